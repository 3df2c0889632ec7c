"""WGSL through both of its compilers: a kernel is accepted and run by wgpu (naga), and accepted by
Chromium (Tint)."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from playwright.sync_api import sync_playwright

from core.target import Target
from tests.browser_setup import find_browser

ARGUMENTS: Final = (
    *("--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"),
    "--enable-features=Vulkan",
)
"""Of Chromium, so that a page has a WebGPU adapter on the CPU."""
_ACCEPT: Final = """async (texts) => {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return texts.map(() => "Chromium has no WebGPU adapter");
  const device = await adapter.requestDevice();
  const said = [];
  for (const [code, entryPoint] of texts) {
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code });
    const { messages } = await module.getCompilationInfo();
    const errors = messages.filter((m) => m.type === "error");
    if (errors.length === 0)
      device.createComputePipeline({ layout: "auto", compute: { module, entryPoint } });
    const invalid = await device.popErrorScope();
    const [first] = errors;
    const line = first && code.split("\\n")[first.lineNum - 1];
    said.push(first ? `line ${first.lineNum}: ${first.message}: ${line}` : invalid?.message ?? "");
  }
  return said;
}"""


def tint(texts: Sequence[str], names: Sequence[str], target: Target) -> list[str]:
    """For each text what Chromium says against it, "" for nothing."""
    path = find_browser()
    if path is None:
        return ["no Chromium"] * len(texts)
    # in a thread of its own: a browser of other tests may have a loop in this one
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(_said, path, texts, names).result()


def _said(path: str, texts: Sequence[str], names: Sequence[str]) -> list[str]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        page = browser.new_page()
        # a file address is a secure context, where WebGPU is
        page.goto("file:///dev/null")
        entries = [f"kernel_{name}" for name in names]
        said = page.evaluate(_ACCEPT, [[*one] for one in zip(texts, entries, strict=True)])
        browser.close()
    return [str(one) for one in said]
