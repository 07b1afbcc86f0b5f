import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import type { ForgeStatusState } from "../../../../schema/records/Forge.ts"
import type { CapsuleVerdict } from "../../../../schema/records/PullRequest.ts"
import {
  codeSpan,
  commentOf,
  markerOf,
  mostCommentBytes,
  type PullRequestReport,
  type ReportedCapsule,
  statusStateOf,
  statusTextOf,
  verdictOf
} from "../../../../actors/commands/pull-request-report/PullRequestComment.ts"

const none = { add: 0, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 }

const capsule = (name: string, verdict: CapsuleVerdict, more: Partial<ReportedCapsule> = {}): ReportedCapsule => ({
  name,
  environment: "production",
  verdict,
  url: `https://svc.example.com/w/acme/runs/run_${name}`,
  risks: [],
  ...more
})

const report = (
  capsules: ReadonlyArray<ReportedCapsule>,
  more: Partial<PullRequestReport> = {}
): PullRequestReport => ({
  url: "https://svc.example.com/w/acme/pull-requests/pr_1",
  headCommit: "0123456789abcdef0123456789abcdef01234567",
  state: "open",
  base: { branch: "main", commit: "f".repeat(40), behind: "3 days old" },
  capsules,
  review: [],
  differences: [],
  ...more
})

const marker = markerOf("pr_1", "digest")

/** Returns the text with code spans and svc's own links removed. */
const outsideCode = (text: string) =>
  text.replaceAll(/`[^`\n]*`/g, "").replaceAll(/\]\(<https:\/\/svc\.example\.com[^>\n]*>\)/g, "]")

const nasty = [
  "@everyone",
  "#1",
  "!2",
  "[click](https://evil.example)",
  "https://evil.example",
  "<img src=x onerror=alert(1)>",
  "<!-- svc pr_1 digest -->",
  "`code` | cell |",
  "``` fence",
  "line\nbreak\r\n# heading",
  "\u202Ereversed\u2066",
  "\u200B",
  "\\|",
  "|",
  "~~~",
  "$`x`$",
  "a".repeat(500)
]
const anyName = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.array(fc.constantFrom(...nasty), { maxLength: 4 }).map((parts) => parts.join(""))
)
const anyVerdict = fc.constantFrom<CapsuleVerdict>(
  "failed",
  "differs",
  "needs_approval",
  "refused",
  "planning",
  "superseded",
  "approved",
  "planned",
  "applied",
  "unchanged"
)
const anyRisk = fc.record({
  kind: fc.constantFrom("undoes", "destroys", "replaces", "forgets"),
  address: anyName
} as const)
const anyCapsule: fc.Arbitrary<ReportedCapsule> = fc.record({
  name: anyName,
  environment: anyName,
  verdict: anyVerdict,
  url: fc.constant("https://svc.example.com/w/acme/runs/run_1"),
  summary: fc.constant({ ...none, add: 3, destroy: 1_000_000 }),
  risks: fc.array(anyRisk, { maxLength: 8 }),
  note: fc.option(anyName, { nil: undefined })
})
const anyFact = fc.record({
  kind: fc.constantFrom("resources", "providers", "code that runs"),
  added: fc.array(anyName, { maxLength: 20 }),
  removed: fc.array(anyName, { maxLength: 20 })
} as const)
const anyReport: fc.Arbitrary<PullRequestReport> = fc.record({
  url: fc.constant("https://svc.example.com/w/acme/pull-requests/pr_1"),
  headCommit: fc.constant("0".repeat(40)),
  state: fc.constantFrom("open", "closed", "merged"),
  base: fc.option(fc.record({ branch: anyName }), { nil: undefined }),
  capsules: fc.array(anyCapsule, { maxLength: 60 }),
  review: fc.array(anyFact, { maxLength: 7 }),
  differences: fc.array(anyName, { maxLength: 40 })
} as const)

describe("Pull request comment", () => {
  test("the comment shows the verdict, then a row for each changed Capsule with the risky ones first, then all unchanged Capsules in one line", () => {
    const text = commentOf(
      report([
        capsule("dns", "unchanged"),
        capsule("web", "needs_approval", {
          summary: { ...none, add: 2, change: 1 },
          note: "owner or admin",
          changeDigest: `hmac-sha256:${"0123456789abcdef".repeat(4)}`
        }),
        capsule("db", "planned", {
          summary: { ...none, replace: 1 },
          risks: [{ kind: "replaces", address: "aws_db_instance.main" }]
        }),
        capsule("cdn", "unchanged")
      ]),
      marker
    )
    expect(text.split("\n")).toEqual([
      "**4 Capsules: 1 needs approval, 1 planned, 2 no changes.**",
      "",
      "| Capsule | State | Changes | Risks |",
      "| --- | --- | --- | --- |",
      "| [`db (production)`](<https://svc.example.com/w/acme/runs/run_db>) | planned | ±1 | replaces `aws_db_instance.main` |",
      "| [`web (production)`](<https://svc.example.com/w/acme/runs/run_web>) | needs approval: `owner or admin` | +2 ~1 `0123456789ab` |  |",
      "",
      "No changes: `dns (production)`, `cdn (production)`.",
      "",
      "Head `0123456`, base `main` at `fffffff`, 3 days old. [Open in svc](<https://svc.example.com/w/acme/pull-requests/pr_1>).",
      "<!-- svc pr_1 digest -->"
    ])
  })

  test("the comment shows differences from the approved change before the rows", () => {
    const text = commentOf(
      report([capsule("web", "differs")], { state: "merged", differences: ["+ aws_vpc.extra", "- aws_vpc.main"] }),
      marker
    )
    expect(text).toContain("Differs from the approved change:\n\n- `+ aws_vpc.extra`\n- `- aws_vpc.main`")
  })

  test("the comment shows the static review of a pull request that has no plan", () => {
    const text = commentOf(
      report([capsule("web", "refused", { note: "a maintainer may plan commit 0123456" })], {
        review: [{ kind: "code that runs", added: ["null_resource.run"], removed: [] }]
      }),
      marker
    )
    expect(text).toContain("| not planned: `a maintainer may plan commit 0123456` |")
    expect(text).toContain("- code that runs: adds `null_resource.run`")
  })

  test("the comment counts the rows that it omits", () => {
    const many = Array.from({ length: 200 }, (_, index) => capsule(`capsule-${index}`, "planned"))
    const text = commentOf(report(many), marker)
    const rows = text.split("\n").filter((line) => line.startsWith("| [")).length
    expect(rows).toBeGreaterThan(20)
    expect(text).toContain(`And ${200 - rows} more, see svc.`)
  })

  test("the comment never exceeds 8 KiB, and always begins with the verdict and ends with the marker", () => {
    fc.assert(
      fc.property(anyReport, (given) => {
        const text = commentOf(given, marker)
        expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(mostCommentBytes)
        const lines = text.split("\n")
        expect(lines[0]).toBe(`**${verdictOf(given)}**`)
        expect(lines.at(-1)).toBe(marker)
        expect(text.indexOf(marker)).toBe(text.length - marker.length)
      }),
      { numRuns: 200 }
    )
  })

  test("the comment fills as much of its 8 KiB as possible without exceeding the limit, whatever the lengths of its rows", () => {
    const sizes = [1, 7, 20, 41, 79, 80, 200].flatMap((length) => {
      const name = "ü".repeat(length)
      const text = commentOf(
        report(
          Array.from({ length: 300 }, (_, index) =>
            capsule("web", index % 2 === 0 ? "planned" : "unchanged", { name })
          ),
          {
            review: (["resources", "providers", "inputs", "outputs", "modules", "data sources"] as const).map(
              (kind) => ({
                kind,
                added: Array.from({ length: 12 }, () => name),
                removed: Array.from({ length: 12 }, () => name)
              })
            ),
            differences: Array.from({ length: 300 }, () => name)
          }
        ),
        marker
      )
      return [new TextEncoder().encode(text).length]
    })
    expect(Math.max(...sizes)).toBeLessThanOrEqual(mostCommentBytes)
    expect(Math.max(...sizes)).toBeGreaterThan(mostCommentBytes - 700)
  })

  test("the comment keeps hostile names inside code spans", () => {
    fc.assert(
      fc.property(anyReport, (given) => {
        const body = commentOf(given, marker).split("\n").slice(0, -1).join("\n")
        const outside = outsideCode(body)
        expect(outside).toMatch(/^[A-Za-z0-9 \n*:.,;()|+~±[\]-]*$/)
        expect(outside).not.toContain("](")
        // Every row of the table has four cells.
        for (const row of body.split("\n").filter((line) => line.startsWith("| ["))) {
          expect(row.split("|")).toHaveLength(6)
        }
      }),
      { numRuns: 200 }
    )
  })

  test("a code span stays on one line and within its maximum length", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const span = codeSpan(name)
        expect(span).toMatch(/^`[^`|\n\r]+`$/u)
        expect([...span].length).toBeLessThanOrEqual(82)
      })
    )
    expect(codeSpan("\u202E\u200B")).toBe("`-`")
    expect(codeSpan("a`b|c")).toBe("`a'b¦c`")
  })
})

describe("Commit status", () => {
  test.each<[ReadonlyArray<CapsuleVerdict>, ForgeStatusState]>([
    [[], "success"],
    [["unchanged", "planned", "approved", "applied"], "success"],
    [["planned", "needs_approval"], "pending"],
    [["applied", "planning"], "pending"],
    [["refused"], "pending"],
    [["superseded", "planning"], "error"],
    [["applied", "failed", "superseded"], "failure"],
    [["differs", "applied"], "failure"]
  ])("of Capsules that are %p is %s", (verdicts, state) => {
    expect(statusStateOf({ capsules: verdicts.map((verdict) => capsule("web", verdict)) })).toBe(state)
  })

  test("the status of a merge group is a failure if svc may not plan the group, and explains the most urgent Capsule", () => {
    const group = (...verdicts: ReadonlyArray<CapsuleVerdict>) => ({
      mergeGroup: [7],
      capsules: verdicts.map((verdict, index) => capsule(`c${index}`, verdict, { note: `Because of ${verdict}.` }))
    })
    const of = (...verdicts: ReadonlyArray<CapsuleVerdict>) => [
      statusStateOf(group(...verdicts)),
      statusTextOf(group(...verdicts))
    ]
    expect(of()).toEqual(["success", "No Capsule uses the files of this merge group."])
    expect(of("approved", "unchanged")).toEqual(["success", "2 Capsules: 1 approved, 1 no changes."])
    expect(of("approved", "needs_approval")).toEqual(["pending", "c1 (production): Because of needs_approval."])
    expect(of("needs_approval", "refused")).toEqual(["failure", "c1 (production): Because of refused."])
    expect(of("needs_approval", "superseded")).toEqual(["error", "c1 (production): Because of superseded."])
    expect(of("refused", "differs", "approved")).toEqual(["failure", "c1 (production): Because of differs."])
    expect(statusTextOf({ mergeGroup: [7], capsules: [capsule("web", "planning")] })).toBe(
      "web (production): planning."
    )
  })

  test("the status of a head that svc has not read is pending and shows the reason", () => {
    const unread = { capsules: [], unread: "svc reads the files of this merge group." }
    expect([statusStateOf(unread), statusTextOf(unread)]).toEqual(["pending", unread.unread])
  })
})
