/**
 * Parts of a link. What is looked at (view.ts) belongs to all; what a panel adds to the address, it
 * declares as a part of its own: how it begins, how it is read and how it is written.
 */
import { signal } from "@preact/signals";
import type { Query, Put } from "./query";

/** How a part stands in the address. `read` gets what a stranger wrote, and checks it. */
export interface LinkForm<T extends object> {
  first: T;
  read(query: Query): T;
  /** Writes what differs from `first`. */
  write(value: T, put: Put): void;
  /** Whether going from `a` to `b` is a jump: it gets an entry of its own in the history. */
  isJump?(a: T, b: T): boolean;
}

/** A change of one part, to be made together with others. */
export interface LinkChange {
  readonly isJump: boolean;
  make(): void;
}

/** What actions know of a part. */
export interface AnyLinkPart {
  read(query: Query): void;
  write(put: Put): void;
}

export class LinkPart<T extends object> implements AnyLinkPart {
  private readonly now;

  constructor(private readonly form: LinkForm<T>) {
    this.now = signal<T>(form.first);
  }

  /** Follows the signal. */
  get value(): T {
    return this.now.value;
  }

  peek(): T {
    return this.now.peek();
  }

  /** Takes the part from an address. */
  read(query: Query): void {
    this.now.value = this.form.read(query);
  }

  write(put: Put): void {
    this.form.write(this.now.peek(), put);
  }

  /** For `go`: this part with some fields changed. */
  with(change: Partial<T>): LinkChange {
    const from = this.now.peek();
    const to: T = { ...from, ...change };
    return {
      isJump: this.form.isJump?.(from, to) ?? false,
      make: () => void (this.now.value = to),
    };
  }
}
