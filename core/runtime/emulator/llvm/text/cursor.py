"""A place in a list of tokens, and what every parser of LLVM IR does there.

Knows words and marks, no grammar beyond lists and brackets.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NoReturn

from core.runtime.emulator.llvm.text.lexer import Token, refuse, tokens_of

MAX_INTEGER: Final = 24
"""Digits of a number."""
_OPENING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Cursor:
    """Reads forward; never goes back."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._tokens = tokens_of(text)
        self._at = 0

    @property
    def token(self) -> Token:
        """The next token."""
        return self._tokens[self._at]

    def after(self) -> Token:
        """The token after the next."""
        return self._tokens[min(self._at + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        """The next token, which is left behind."""
        token = self._tokens[self._at]
        if token.kind != "over":
            self._at += 1
        return token

    def fail(self, what: str, line: int = 0, hint: str = "") -> NoReturn:
        """Raises CompileError for the line of the next token, or for `line`."""
        refuse(what, self.text, line or self.token.line, hint)

    def expected(self, what: str) -> NoReturn:
        """Raises CompileError: `what` should be next."""
        self.fail(f"expected {what}, found {self.token.text[:80]!r}")

    def sees(self, text: str) -> bool:
        """Whether the next token is this word or mark."""
        token = self.token
        return token.text == text and token.kind in ("word", "mark")

    def accept(self, text: str) -> bool:
        """Takes the next token if it is this word or mark."""
        if self.sees(text):
            self._at += 1
            return True
        return False

    def expect(self, *texts: str) -> None:
        """Takes these words and marks."""
        for text in texts:
            if not self.accept(text):
                self.expected(repr(text))

    def word(self, what: str) -> str:
        """Takes a word."""
        if self.token.kind != "word":
            self.expected(what)
        return self.take().text

    def words(self, known: Collection[str]) -> frozenset[str]:
        """Takes all words that come next and are `known`."""
        found: set[str] = set()
        while self.token.kind == "word" and self.token.text in known:
            found.add(self.take().text)
        return frozenset(found)

    def of_kind(self, kind: str, what: str) -> str:
        """Takes a token of this kind."""
        if self.token.kind != kind:
            self.expected(what)
        return self.take().text

    def natural(self, what: str, most: int) -> int:
        """Takes a number from 0 to `most`."""
        text = self.token.text
        if self.token.kind != "number" or not text.isdigit() or len(text) > MAX_INTEGER:
            self.expected(what)
        if int(text) > most:
            self.fail(f"{what} is at most {most:,}")
        self.take()
        return int(text)

    def skip_brackets(self) -> None:
        """Takes a bracket, and all up to the one that closes it."""
        line = self.token.line
        open_: list[str] = []
        while True:
            token = self.take()
            if token.kind == "over":
                self.fail("a bracket is not closed", line)
            if token.kind != "mark":
                continue
            if token.text in _OPENING:
                open_.append(_OPENING[token.text])
            elif token.text in _OPENING.values():
                if not open_ or open_.pop() != token.text:
                    self.fail(f"{token.text!r} closes nothing", token.line)
                if not open_:
                    return
