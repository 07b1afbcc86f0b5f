import type { ForgeStatusState } from "../../../schema/records/Forge.ts"
import type { PlanSummary } from "../../../schema/records/PlanDetails.ts"
import type { CapsuleVerdict, PullRequestRisk } from "../../../schema/records/PullRequest.ts"

/** A Capsule in a report. Its texts are redacted, but may contain any characters. */
export interface ReportedCapsule {
  readonly name: string
  readonly environment: string
  readonly verdict: CapsuleVerdict
  /** The plan's page, or the Capsule's page if there is no plan. */
  readonly url: string
  readonly summary?: PlanSummary | undefined
  readonly risks: ReadonlyArray<PullRequestRisk>
  /** Digest of the change that the plan makes. */
  readonly changeDigest?: string | undefined
  /** The people or roles whose approval is missing, or the reason for a refusal. */
  readonly note?: string | undefined
}

/** Facts of a static review, by kind of block. */
export interface ReportedFact {
  readonly kind: "resources" | "data sources" | "modules" | "providers" | "inputs" | "outputs" | "code that runs"
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

/** Everything that a comment shows. Contains no logs and no values. */
export interface PullRequestReport {
  readonly url: string
  readonly headCommit: string
  readonly state: "open" | "closed" | "merged"
  /** The reason why svc does not yet know which Capsules use the files. */
  readonly unread?: string | undefined
  /** The pull requests of the merge group, if a merge queue is testing the commit. */
  readonly mergeGroup?: ReadonlyArray<number> | undefined
  readonly base?:
    | { readonly branch: string; readonly commit?: string | undefined; readonly behind?: string | undefined }
    | undefined
  readonly capsules: ReadonlyArray<ReportedCapsule>
  readonly review: ReadonlyArray<ReportedFact>
  /** The lines in which the plan differs from the approved change. */
  readonly differences: ReadonlyArray<string>
}

/** Maximum size of a comment in bytes, so that it remains readable on every forge. */
export const mostCommentBytes = 8 * 1024
const longestName = 80
const mostRisksShown = 3
const mostFactsShown = 10

const bytesOf = (text: string) => new TextEncoder().encode(text).length

/** Characters that are invisible, or change the direction of the text around them. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]+/gu

/**
 * Returns untrusted text as a code span, because forges do not resolve mentions, references, links or HTML inside code
 * spans. Replaces backticks, which would end the span, and vertical bars, which would end the table cell.
 */
export const codeSpan = (text: string, longest = longestName): string => {
  const visible = text.replaceAll(unseen, " ").replaceAll(/\s+/g, " ")
  // Escapes the beginning of an HTML comment, because it would look like a marker.
  const plain = visible.replaceAll("`", "'").replaceAll("|", "¦").replaceAll(/<!-+/g, "<!").trim()
  const points = [...plain]
  const shown = points.length > longest ? `${points.slice(0, longest - 1).join("")}…` : plain
  return `\`${shown === "" ? "-" : shown}\``
}

/** Returns an address of one of svc's own pages as a link target. */
const target = (url: string): string => `<${encodeURI(decodeURI(url)).replaceAll(/[<>\s|]/g, "")}>`

const countOf = (amount: number, singular: string): string => `${amount} ${amount === 1 ? singular : `${singular}s`}`

/** The text of each verdict, most urgent first. */
const verdictWords: Readonly<Record<CapsuleVerdict, string>> = {
  failed: "failed",
  differs: "differs from the approved change",
  needs_approval: "needs approval",
  refused: "not planned",
  planning: "planning",
  superseded: "superseded",
  approved: "approved",
  planned: "planned",
  applied: "applied",
  unchanged: "no changes"
}
const urgency = Object.keys(verdictWords)

const byUrgency = (a: ReportedCapsule, b: ReportedCapsule) =>
  b.risks.length - a.risks.length || urgency.indexOf(a.verdict) - urgency.indexOf(b.verdict)

/**
 * Returns one sentence about all Capsules of the pull request. The comment begins with this sentence, and the status
 * contains it.
 */
export const verdictOf = (report: Pick<PullRequestReport, "capsules" | "mergeGroup" | "unread">): string => {
  const { capsules, mergeGroup, unread } = report
  if (unread !== undefined) return unread
  if (capsules.length === 0) {
    return `No Capsule uses the files of this ${mergeGroup === undefined ? "pull request" : "merge group"}.`
  }
  const counted = Object.entries(verdictWords).flatMap(([verdict, words]) => {
    const amount = capsules.filter((capsule) => capsule.verdict === verdict).length
    return amount === 0 ? [] : [`${amount} ${words}`]
  })
  return `${countOf(capsules.length, "Capsule")}: ${counted.join(", ")}.`
}

const stateOfVerdict: Readonly<Record<CapsuleVerdict, ForgeStatusState>> = {
  failed: "failure",
  differs: "failure",
  needs_approval: "pending",
  refused: "pending",
  planning: "pending",
  superseded: "error",
  approved: "success",
  planned: "success",
  applied: "success",
  unchanged: "success"
}
const stateUrgency: ReadonlyArray<ForgeStatusState> = ["failure", "error", "pending", "success"]

/** Returns the state for the commit status, which is the state of the most urgent Capsule. */
export const statusStateOf = ({
  capsules,
  mergeGroup,
  unread
}: Pick<PullRequestReport, "capsules" | "mergeGroup" | "unread">): ForgeStatusState => {
  if (unread !== undefined) return "pending"
  // The queue must not wait, because svc will never plan this commit.
  const isRefused = mergeGroup !== undefined && capsules.some(({ verdict }) => verdict === "refused")
  if (isRefused) return "failure"
  return stateUrgency.find((state) => capsules.some(({ verdict }) => stateOfVerdict[verdict] === state)) ?? "success"
}

/**
 * Returns the text of the status. For a merge group, the text explains the most urgent Capsule, because svc writes no comment there.
 */
export const statusTextOf = (report: Pick<PullRequestReport, "capsules" | "mergeGroup" | "unread">): string => {
  const { capsules, mergeGroup } = report
  const states = capsules.map((capsule) => statusStateOf({ ...report, capsules: [capsule] }))
  const rank = (index: number) => stateUrgency.indexOf(states[index] ?? "success") * urgency.length
  const [first] = capsules
    .map((capsule, index) => ({ ...capsule, rank: rank(index) + urgency.indexOf(capsule.verdict) }))
    .toSorted((a, b) => a.rank - b.rank)
  if (mergeGroup === undefined || first === undefined || stateOfVerdict[first.verdict] === "success") {
    return verdictOf(report)
  }
  return `${first.name} (${first.environment}): ${first.note ?? `${verdictWords[first.verdict]}.`}`
}

const signs = [
  ["+", "add"],
  ["~", "change"],
  ["±", "replace"],
  ["-", "destroy"],
  ["import ", "import"],
  ["forget ", "forget"]
] as const

const summaryText = (summary: PlanSummary | undefined): string => {
  if (summary === undefined) return ""
  return signs.flatMap(([sign, field]) => (summary[field] === 0 ? [] : [`${sign}${summary[field]}`])).join(" ")
}

const listText = (texts: ReadonlyArray<string>, most: number): string => {
  const more = texts.length - most
  const shown = texts.slice(0, most).map((text) => codeSpan(text))
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(", ")
}

const riskText = (risks: ReadonlyArray<PullRequestRisk>): string =>
  (["undoes", "destroys", "replaces", "forgets"] as const)
    .flatMap((kind) => {
      const addresses = risks.filter((risk) => risk.kind === kind).map(({ address }) => address)
      return addresses.length === 0 ? [] : [`${kind} ${listText(addresses, mostRisksShown)}`]
    })
    .join("; ")

const titleOf = ({ environment, name, url }: ReportedCapsule) =>
  `[${codeSpan(`${name} (${environment})`)}](${target(url)})`

/** Number of digits of a change digest that a row shows. */
const shownDigest = 12

const changeText = ({ changeDigest, summary }: Pick<ReportedCapsule, "changeDigest" | "summary">): string =>
  [
    summaryText(summary),
    ...(changeDigest === undefined
      ? []
      : [codeSpan(changeDigest.slice(changeDigest.indexOf(":") + 1).slice(0, shownDigest))])
  ]
    .filter((part) => part !== "")
    .join(" ")

const rowOf = (capsule: ReportedCapsule): string => {
  const { note, risks, verdict } = capsule
  const words = note === undefined ? verdictWords[verdict] : `${verdictWords[verdict]}: ${codeSpan(note, 120)}`
  return `| ${titleOf(capsule)} | ${words} | ${changeText(capsule)} | ${riskText(risks)} |`
}

const tableHead = ["| Capsule | State | Changes | Risks |", "| --- | --- | --- | --- |"]

const factLine = ({ added, kind, removed }: ReportedFact): string => {
  const parts = [
    ...(added.length === 0 ? [] : [`adds ${listText(added, mostFactsShown)}`]),
    ...(removed.length === 0 ? [] : [`removes ${listText(removed, mostFactsShown)}`])
  ]
  return `- ${kind}: ${parts.join("; ")}`
}

const short = (commit: string) => commit.slice(0, 7)

const footOf = (report: PullRequestReport, marker: string): ReadonlyArray<string> => {
  const { base, headCommit, url } = report
  const behind = base?.behind === undefined ? "" : `, ${base.behind}`
  const from =
    base === undefined
      ? ""
      : `, base ${codeSpan(base.branch)}${base.commit === undefined ? "" : ` at ${codeSpan(short(base.commit))}`}${behind}`
  return ["", `Head ${codeSpan(short(headCommit))}${from}. [Open in svc](${target(url)}).`, marker]
}

/**
 * Adds lines while the text stays within the limit, and then a line with the number of omitted lines. Returns these lines after
 * an empty line, or no lines.
 */
const fitting = (
  lines: ReadonlyArray<string>,
  head: ReadonlyArray<string>,
  room: number,
  more: (left: number) => string
): ReadonlyArray<string> => {
  if (lines.length === 0) return []
  const kept: Array<string> = ["", ...head]
  const sizeOf = (added: ReadonlyArray<string>) => bytesOf([...kept, ...added].join("\n")) + 1
  for (const [index, line] of lines.entries()) {
    const left = lines.length - index
    const isLast = left === 1
    if (sizeOf(isLast ? [line] : [line, "", more(left - 1)]) > room) {
      const rest = ["", more(left)]
      return sizeOf(rest) > room ? [] : [...kept, ...rest]
    }
    kept.push(line)
  }
  return kept
}

/**
 * Renders the comment: the verdict, a row for each changed Capsule (those with risks first), one line for the unchanged
 * Capsules, the static review, and the marker by which svc finds the comment again. Omits whole rows if the comment would be
 * too long.
 */
export const commentOf = (report: PullRequestReport, marker: string): string => {
  const changing = report.capsules.filter(({ verdict }) => verdict !== "unchanged").sort(byUrgency)
  const unchanged = report.capsules.filter(({ verdict }) => verdict === "unchanged")
  const first = `**${verdictOf(report)}**`
  const foot = footOf(report, marker)
  const lines: Array<string> = [first]
  const room = () => mostCommentBytes - bytesOf([...lines, ...foot].join("\n")) - 1
  const add = (added: ReadonlyArray<string>) => void lines.push(...added)
  const andMore = (left: number) => `And ${countOf(left, "more line")}, see svc.`
  add(
    fitting(
      report.differences.map((line) => `- ${codeSpan(line, 200)}`),
      ["Differs from the approved change:", ""],
      Math.floor(room() / 3),
      andMore
    )
  )
  add(fitting(changing.map(rowOf), tableHead, Math.floor((room() * 3) / 4), (left) => `And ${left} more, see svc.`))
  const names = unchanged.map(({ environment, name }) => `${name} (${environment})`)
  add(fitting(names.length === 0 ? [] : [`No changes: ${listText(names, mostFactsShown)}.`], [], room(), andMore))
  add(fitting(report.review.map(factLine), ["Static review, read from the files alone:", ""], room(), andMore))
  return [...lines, ...foot].join("\n")
}

/**
 * The marker by which svc finds its comment. The marker contains a digest that identifies this installation and this pull
 * request.
 */
export const markerOf = (pullRequestId: string, digest: string): string => `<!-- svc ${pullRequestId} ${digest} -->`
