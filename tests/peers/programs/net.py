"""A small net, one step of training: names that tinygrad has had since 0.11."""

from tinygrad import Tensor, nn

Tensor.training = True
net = [nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Linear(8 * 12 * 12, 10)]
x = Tensor.ones(4, 3, 16, 16).contiguous()
for layer in net[:2]:
    x = layer(x).relu()
loss = net[2](x.flatten(1)).log_softmax().mean()
optimizer = nn.optim.SGD(nn.state.get_parameters(net), lr=0.1)
optimizer.zero_grad()
loss.backward()
optimizer.step()
print("done")
