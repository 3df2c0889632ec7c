"""What is checked on a real GPU: `make gpu-check`. Not part of the other tests."""
