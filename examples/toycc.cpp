// A toy compiler in C++ that writes a stream:
//   c++ -std=c++17 toycc.cpp -o toycc && ./toycc toy.jsonl && uopviz import toy.jsonl
// It compiles `(x + 0) * 2`, and folds the zero.
#include "uopviz_stream.hpp"

using Fields = uopviz::Json::Fields;
using Numbers = std::vector<int>;

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  uopviz::Stream out(argv[1], "toycc", "1.0");
  enum { x = 1, zero, two, total, product, root, product_2, root_2 };
  const int fold = 1, add_zero = 1, kernel = 1;
  out.put({"context", kernel, 0, "kernel a", "kernel", out.now()});
  out.put({"node", x, "var", "int", Numbers(), Fields{{"arg", "\"x\""}, {"call", "a.toy:1"}}});
  out.put({"node", zero, "num", "int", Numbers(), Fields{{"arg", "0"}}});
  out.put({"node", two, "num", "int", Numbers(), Fields{{"arg", "2"}}});
  out.put({"node", total, "add", "int", Numbers{x, zero}});
  out.put({"node", product, "mul", "int", Numbers{total, two}});
  out.put({"node", root, "ret", "void", Numbers{product}});
  out.put({"rule", add_zero, "add_zero", Fields{{"file", "toycc.cpp"}, {"line", 12}, {"equation", "x + 0 -> x"}}});
  out.put({"rewrite", fold, kernel, "fold", root, Fields{{"at", out.now()}}});
  out.put({"match", fold, add_zero, total, x, Fields{{"x", x}}, 300});
  out.put({"node", product_2, "mul", "int", Numbers{x, two}});
  out.put({"node", root_2, "ret", "void", Numbers{product_2}});
  out.put({"rebuild", fold, product, product_2});
  out.put({"rebuild", fold, root, root_2});
  out.put({"pass-text", fold, "before", "toy", "t = x + 0\nreturn t * 2\n", Numbers{total, product}});
  out.put({"pass-text", fold, "after", "toy", "return x * 2\n", Numbers{product_2}});
  out.put({"result", fold, root_2, out.now()});
  out.put({"kernel", kernel, "a", Fields{{"target", "toy"}}});
  out.put({"text", kernel, "source", "toy", "mul x, 2\nret\t\"done\"\n"});
  out.put({"end-context", kernel, out.now()});
}
