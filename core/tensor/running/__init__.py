"""From graphs to memory: what runs, what stays for gradients, what is written in place."""
