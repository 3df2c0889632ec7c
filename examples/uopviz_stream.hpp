// A stream for uopviz, to copy into a compiler: docs/stream.md describes the events. C++17, no other
// library. Numbers of nodes, rules, contexts and rewrites are the caller's, from 1 on; 0 is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uopviz {

/// A value as JSON.
class Json {
 public:
  Json(std::string_view text) : text_(quoted(text)) {}
  Json(const std::string &text) : Json(std::string_view(text)) {}
  Json(const char *text) : Json(std::string_view(text)) {}
  Json(int number) : text_(std::to_string(number)) {}
  Json(std::int64_t number) : text_(std::to_string(number)) {}
  Json(const std::vector<int> &numbers) : text_("[") {
    for (int number : numbers) append(std::to_string(number));
    text_ += ']';
  }
  /// An object. Without fields: `Fields()`.
  using Fields = std::vector<std::pair<std::string, Json>>;
  Json(const Fields &fields) : text_("{") {
    for (const auto &[name, value] : fields) append(quoted(name) + ":" + value.text_);
    text_ += '}';
  }

  const std::string &text() const { return text_; }

 private:
  void append(const std::string &item) {
    if (text_.size() > 1) text_ += ',';
    text_ += item;
  }

  static std::string quoted(std::string_view text) {
    static const char *const digits = "0123456789abcdef";
    std::string made = "\"";
    for (unsigned char c : text) {
      if (c == '"' || c == '\\')
        (made += '\\') += static_cast<char>(c);
      else if (c < 0x20)
        ((made += "\\u00") += digits[c >> 4]) += digits[c & 15];
      else
        made += static_cast<char>(c);
    }
    return made += '"';
  }

  std::string text_;
};

/// Writes the stream of one process to a file. What cannot be written is left out: the compiler runs on.
class Stream {
 public:
  Stream(const std::string &path, const std::string &compiler, const std::string &version)
      : out_(path, std::ios::binary), start_(std::chrono::steady_clock::now()) {
    put({"stream", 1, Json::Fields()});
    put({"compiler", compiler, version});
  }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;
  ~Stream() { put({"end", now()}); }

  /// Microseconds since the start of the stream.
  std::int64_t now() const {
    using namespace std::chrono;
    return duration_cast<microseconds>(steady_clock::now() - start_).count();
  }

  /// An event: its kind, and its values in the order of docs/stream.md.
  void put(std::initializer_list<Json> values) {
    char before = '[';
    for (const Json &value : values) {
      out_ << before << value.text();
      before = ',';
    }
    out_ << "]\n";
  }

  /// Lets others see what was written, such as at the end of a pass.
  void flush() { out_.flush(); }

 private:
  std::ofstream out_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace uopviz
