"""Strided, masked views of memory as plain immutable data. Never looks at data or at a graph."""

from core.shape.shapetracker import ShapeTracker as ShapeTracker
from core.shape.view import View as View
