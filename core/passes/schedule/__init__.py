"""The Tensor graph's passes, from lazy graph to kernels in order."""

from core.passes.schedule.item import ScheduleItem as ScheduleItem
from core.passes.schedule.pipeline import create_schedule as create_schedule
