/** What a compiler says about a program, as it reads: "24 registers". Pure. */
import { short } from "../../app/format";
import type { Artifact } from "../../data/types";

/** Short names that compilers use. */
const WORDS: Readonly<Partial<Record<string, string>>> = {
  regs: "registers",
  vgprs: "VGPRs",
  sgprs: "SGPRs",
  agprs: "AGPRs",
  wavefront: "lanes per wavefront",
  "vgpr spills": "VGPR spills",
  "sgpr spills": "SGPR spills",
  "lds bytes": "LDS bytes",
};

/** Value and name; a value that says its unit by itself follows its name. */
export function factText({ name, value }: Artifact["facts"][number]): string {
  const word = WORDS[name] ?? name;
  if (value.toLowerCase().includes(word.toLowerCase())) return short(value, 60);
  if (/^[\d.,]+$/.test(value)) return short(`${value} ${value === "1" ? one(word) : word}`, 60);
  return short(/^[\d.,]+ ?%$/.test(value) ? `${value} ${word}` : `${word} ${value}`, 60);
}

const one = (word: string): string => word.replace(/^(\w+?)s\b/, "$1");
