# A formula for Homebrew, `brew install --HEAD ./packaging/homebrew/anec.rb`. It has not been
# run: nothing of anec was ever built on a Mac. OWNER stands for where the repository is.
class Anec < Formula
  desc "Compiler toolchain for the Apple Neural Engine"
  homepage "https://github.com/OWNER/anec"
  license "Apache-2.0" => { with: "LLVM-exception" }
  head "https://github.com/OWNER/anec.git", branch: "main"

  depends_on "antlr" => :build
  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "antlr4-cpp-runtime"
  depends_on "cpp-httplib"
  depends_on "fmt"
  depends_on "llvm"
  depends_on macos: :sonoma
  depends_on "pcre2"
  depends_on "utf8proc"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja",
           "-DANEC_BUILD_TESTS=OFF", "-DANEC_BUILD_PYTHON=OFF", *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    (testpath/"k.tdsl").write <<~EOS
      kernel k(x: fp16[4, 8]) -> fp16[4, 8] { return silu(x); }
    EOS
    system bin/"anec", "k.tdsl", "-o", "k.mil"
    system bin/"anec", "check", "k.tdsl", "--target=m1"
    system bin/"ane-run", "k.mil", "--backend=cpu", "--input", "x=random:1", "--compare"
  end
end
