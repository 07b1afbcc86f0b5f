import type { Mutant } from "./Mutant.ts"

const digestFile = "runner/execution/ChangeDigest.ts"
const digestTest = "test/runner/execution/ChangeDigest.test.ts"

/** Mutants of the digest of a change. */
export const changeMutants: ReadonlyArray<Mutant> = [
  {
    name: "change digest: keyed",
    file: digestFile,
    text: 'createHmac("sha256", changeKey)',
    broken: 'createHmac("sha256", "")',
    test: digestTest
  },
  {
    name: "change digest: numbers digit by digit",
    file: digestFile,
    text: 'withNumbers(plan, (number) => `"${mark}${number}"`)',
    broken: "plan",
    test: digestTest
  },
  {
    name: "change digest: a number is not the string of its digits",
    file: digestFile,
    text: "value.startsWith(mark) ? value.slice(mark.length) : JSON.stringify(value)",
    broken: "JSON.stringify(value.replace(mark, String()))",
    test: digestTest
  },
  {
    name: "change digest: objects that are only moved",
    file: digestFile,
    text: '|| member(planned, "previous_address") != null',
    broken: "",
    test: digestTest
  },
  {
    name: "change digest: parts that svc does not know",
    file: digestFile,
    text: "otherParts.has(name) ? undefined",
    broken: '!["resource_changes", "output_changes", "checks"].includes(name) ? undefined',
    test: digestTest
  },
  {
    name: "change digest: drift that a plan accepts",
    file: digestFile,
    text: '.update(mode === "refresh_only" ? `${mode}:${change}:${drift}` : `${mode}:${change}`)',
    broken: ".update(`${mode}:${change}:${drift.slice(drift.length)}`)",
    test: digestTest
  }
]
