/** What the sources are of: a kernel, a schedule, or two kernels side by side. */
import type { ComponentType } from "preact";
import type { Artifact } from "../../data/messages/kernel";
import type { Signs } from "../source/editor";
import type { Linked } from "../source/linked";

/** A text that can be shown. */
export interface Offer {
  key: string;
  /** What showing it takes; "" where it is at hand. */
  hint: string;
  shown: boolean;
}

/** All functions follow signals. */
export interface SourcesModel {
  /** Keys of the columns, from left to right, as many as there is room for. */
  columns: () => readonly string[];
  artifact: (key: string) => Artifact | undefined;
  /** What can be shown, that which people look at first in front. */
  offers: () => readonly Offer[];
  toggle: (key: string) => void;
  linked: Linked;
  /** What the gutter says of each line of a text. */
  numbers?: (key: string) => readonly string[] | undefined;
  signs?: (key: string) => Signs | undefined;
  /** What lights lines, in words: "u121 MUL"; "" where nothing does. */
  lightsWhat: () => string;
  /** How many nodes stand behind the clicked line, where the graphs do not stand beside it, and the way
   * to them. */
  nodes?: () => { count: number; show: () => void } | null;
  /** The text itself, of an artifact that has one. */
  Text: ComponentType<{ artifact: Artifact }>;
  /** In its place where it is not here. */
  Missing: ComponentType<{ id: string; artifact: Artifact | undefined }>;
  /** Makes a text that is not here; null where that is not possible. */
  compile: (key: string) => (() => void) | null;
  /** Whether it is on its way. */
  isComing: (key: string) => boolean;
  /** Bar and Cancel, while it is. */
  Progress: ComponentType<{ id: string }>;
  /** Beside the name of a column: what is to be said of it. */
  Notes?: ComponentType<{ id: string; artifact: Artifact | undefined }>;
  /** At the right end of its head. */
  Buttons?: ComponentType<{ id: string; artifact: Artifact }>;
  /** In place of all columns: what is shown over the full width. */
  wide?: () => ComponentType | null;
}
