"""Patterns, rules, and the matchers that find which rule fires."""
