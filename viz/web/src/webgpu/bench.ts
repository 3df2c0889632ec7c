/** A kernel as it is and as it is changed, on a GPU, in the worker that has it: what both compute, and their
 * times in turn. */
import type { Shader, Shaders } from "../data/messages/trials/shaders";
import type { BenchSide, Workbench } from "../data/messages/trials/workbench";
import { excess, judge, writtenBy } from "./judge";
import { difference } from "./values/difference";
import type { Session } from "./device/session";
import { outputsOf, pictureOf } from "./values/picture";
import { timesOf } from "./values/turns";
import { BROWSER } from "../data/browser";

const SECONDS = 2;
/** The one kind of inputs that a browser makes. */
export const GENERATED = { kind: "generated", title: "Generated" };

/** Runs both, `kernel` and what `edited` makes of it: compiled otherwise, with the text `source` where the
 * reader has edited it. Raises a GpuProblem. */
export async function bench(
  session: Session,
  kernel: Shaders,
  edited: Shaders,
  source: string | null,
  progress: (text: string) => void,
): Promise<Workbench> {
  const sides = [kernel.made, source === null ? edited.made : { ...edited.made, text: source }];
  const written = writtenBy(kernel);
  const tried = await session.run(
    {
      sides: [...sides, kernel.plain],
      timed: [0, 1],
      arguments: kernel.arguments,
      written,
      seconds: SECONDS,
    },
    progress,
  );
  progress("comparing");
  const [a, b, plain] = tried.outputs as [ArrayBuffer[], ArrayBuffer[], ArrayBuffer[]];
  const between = written.map((number, i) => {
    const of = kernel.arguments[number]!;
    return { of, a: new DataView(a[i]!), b: new DataView(b[i]!) };
  });
  const apart = between.map((one) => difference(one.b, one.a, one.of));
  const worst = apart.reduce((at, one, i) => (excess(one) > excess(apart[at]!) ? i : at), 0);
  const furthest = between[worst]!;
  const outputs = outputsOf(furthest.a, furthest.b, furthest.of);
  const overrun = (side: number): string[] =>
    tried.overrun.filter(([of]) => of === side).map(([, argument]) => `argument ${argument}`);
  return {
    device: `${BROWSER}: ${session.adapter.name}`,
    target: "webgpu",
    changed: sides[0]!.text !== sides[1]!.text,
    flops: kernel.flops,
    bytes: kernel.bytes,
    original: side(kernel.made, sides[0]!.text, overrun(0)),
    edited: side(edited.made, sides[1]!.text, overrun(1)),
    times: timesOf(tried.us[0]!, tried.us[1]!),
    outputs,
    picture: pictureOf(furthest.a, furthest.b, furthest.of),
    inputs: [
      {
        ...GENERATED,
        same: apart.every((one) => one.error <= one.allowed),
        original: judge(kernel, a, plain).equal && !overrun(0).length,
        edited: judge(kernel, b, plain).equal && !overrun(1).length,
        ulps: outputs.ulps,
        error: outputs.error,
        why: "",
      },
    ],
  };
}

const side = (of: Shader, text: string, overrun: readonly string[]): BenchSide => ({
  kind: "wgsl",
  text,
  opts: of.opts,
  instructions: null,
  facts: overrun.length ? [{ name: "writes behind the end of", value: overrun.join(", ") }] : [],
});
