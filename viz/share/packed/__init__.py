"""The answers in an exported file: dense, packed, and made in several processes."""
