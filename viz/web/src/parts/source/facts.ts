/** What a compiler says about a program, as it reads: "24 regs". Pure. */
import { short } from "../../state/format";
import type { Artifact } from "../../data/messages/kernel";

type Fact = Artifact["facts"][number];

/** Names as they are said next to a number. */
const WORDS: Readonly<Partial<Record<string, string>>> = {
  registers: "regs",
  vgprs: "VGPRs",
  sgprs: "SGPRs",
  agprs: "AGPRs",
  wavefront: "lanes per wavefront",
  "vgpr spills": "VGPR spills",
  "sgpr spills": "SGPR spills",
  "lds bytes": "LDS bytes",
};
/** What decides how fast a kernel is comes first; what is not named here stays behind. */
const ORDER: readonly RegExp[] = [
  /^(regs|registers|vgprs)$/,
  /spill/,
  /^occupancy$/,
  /^(scratch|stack)/,
  /^(lds|shared)/,
  /^instructions$/,
  /^(sgprs|agprs)$/,
  /^barriers$/,
];

/** Value and name; a value that says its unit by itself follows its name, or stands alone. */
export function factText({ name, value }: Fact): string {
  const word = WORDS[name] ?? name;
  if (name === "occupancy" && /(waves?|warps?)$/.test(value)) return short(value, 60);
  if (value.toLowerCase().includes(word.slice(0, 3).toLowerCase())) return short(value, 60);
  if (/^[\d.,]+$/.test(value)) return short(`${value} ${value === "1" ? one(word) : word}`, 60);
  return short(/^[\d.,]+ ?%$/.test(value) ? `${value} ${word}` : `${word} ${value}`, 60);
}

const one = (word: string): string => word.replace(/^(\w+?)s\b/, "$1");

/** What a launch of a text needs, as JSON: for programs. */
const LAUNCH = "launch";

/** The facts that say something, the most important one first: no zeros. */
export function tellingFacts(facts: readonly Fact[]): Fact[] {
  const rank = ({ name }: Fact): number => {
    const at = ORDER.findIndex((pattern) => pattern.test(name));
    return at < 0 ? ORDER.length : at;
  };
  const tells = ({ name, value }: Fact): boolean =>
    name !== LAUNCH && !/^0+(\.0+)?%?$/.test(value);
  return facts.filter(tells).sort((a, z) => rank(a) - rank(z));
}
