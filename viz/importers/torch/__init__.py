"""PyTorch's dumps: graphs of torch.fx, and TORCH_TRACE."""
