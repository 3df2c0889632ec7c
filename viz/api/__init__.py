"""What `import uopviz` has: runs, kernels, passes, steps, graphs and nodes as typed objects."""
