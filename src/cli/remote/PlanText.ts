import type { OutputChange, ResourceChange } from "../../../schema/records/PlanDetails.ts"
import type { RestoreEvidence } from "../../../schema/records/RestoreEvidence.ts"
import type { Run } from "../../../schema/records/Run.ts"
import {
  attributesOf,
  type ChangedSides,
  changeKind,
  type ChangeKind,
  diffOf,
  inlineText,
  isShownOutput,
  type Side,
  sidesOf
} from "../../dashboard/screens/run/PlanDiff.ts"
import type { DifferenceLine, Segment, ValuePair } from "../../dashboard/value-difference/Difference.ts"
import { valueDifference } from "../../dashboard/value-difference/ValueDifference.ts"
import { decisionLines } from "./DecisionText.ts"
import { shortCommit, timeText } from "./Rows.ts"
import { type Paint, terminalText } from "./TerminalText.ts"

const verbs: Readonly<Record<ChangeKind, readonly [sign: string, style: Parameters<Paint>[0], words: string]>> = {
  destroy: ["-", "red", "to destroy"],
  replace: ["±", "magenta", "to replace: destroyed and created again"],
  forget: ["⊘", "magenta", "to forget: they stay, and nothing manages them any more"],
  update: ["~", "yellow", "to change"],
  create: ["+", "green", "to create"],
  import: ["↓", "cyan", "to import: they exist already"],
  move: ["→", "blue", "to move to another address"],
  read: ["?", "blue", "to read during the apply"],
  none: [" ", "faint", "without a change"]
}

type ChangedValue = ChangedSides & { readonly name: string }

const sideText = (side: Side): string => {
  switch (side.kind) {
    case "absent":
      return "(none)"
    case "null":
      return "null"
    case "hidden":
      return "(sensitive value)"
    case "later":
      return "(known after apply)"
    case "value":
      return inlineText(side.value) ?? "…"
  }
}

const mostLines = 200

const segmentsText = (segments: ReadonlyArray<Segment>, style: "red" | "green", paint: Paint): string =>
  segments
    .map(({ marked, text }) =>
      marked ? paint("underline", paint(style, terminalText(text))) : paint(style, terminalText(text))
    )
    .join("")

const lineText = (line: DifferenceLine, paint: Paint): string => {
  switch (line.kind) {
    case "same":
      return `  ${terminalText(line.text)}`
    case "removed":
      return `${paint("red", "-")} ${segmentsText(line.segments, "red", paint)}`
    case "added":
      return `${paint("green", "+")} ${segmentsText(line.segments, "green", paint)}`
    case "path":
      return paint("faint", `@ ${line.path.map(terminalText).join(" › ")}`)
    case "moved":
      return `${paint("blue", "→")} ${terminalText(line.text)} ${paint("faint", `(${line.from} → ${line.to})`)}`
    case "fold":
      return paint("faint", `  … ${line.count} unchanged ${line.unit}`)
  }
}

const onlyDiffers = {
  whitespace: "only whitespace differs",
  type: "only the type differs",
  order: "only the order differs"
} as const

/** Formats the diff of a long value as a summary and lines. */
const differenceText = (pair: ValuePair, paint: Paint) => {
  const difference = valueDifference(pair)
  const { changed, total, unit } = difference.extent
  const hasBoth = pair.before !== undefined && pair.after !== undefined
  const extent = difference.only === undefined ? `${changed} of ${total} ${unit} changed` : onlyDiffers[difference.only]
  const said = [
    ...(hasBoth ? [extent] : []),
    ...(difference.reading === "base64" ? ["decoded from base64"] : []),
    ...difference.highlights.map(({ after, before, name }) =>
      terminalText(`${name} ${before ?? "(none)"} → ${after ?? "(none)"}`)
    )
  ]
  const shown = difference.lines.slice(0, mostLines).map((line) => lineText(line, paint))
  const left = difference.lines.length - shown.length
  return {
    head: said.join(" · "),
    lines:
      left === 0 ? shown : [...shown, paint("faint", `… ${left} more lines; see them in the dashboard or with --json`)]
  }
}

/** Formats a value before and after the change: on one line, or as a diff if it is long. */
const valueLines = (
  pair: ChangedValue,
  actions: ReadonlyArray<string>,
  note: string,
  paint: Paint
): ReadonlyArray<string> => {
  const { after, before } = sidesOf(pair, actions)
  const name = terminalText(pair.name)
  const isLong = [before, after].some((side) => side.kind === "value" && inlineText(side.value) === undefined)
  const isKnown = [before, after].every((side) => side.kind !== "later" && side.kind !== "hidden")
  if (isLong && isKnown) {
    const [from, to] = [before, after].map((side) => (side.kind === "value" ? side.value : undefined))
    const difference = differenceText({ name: pair.name, before: from, after: to }, paint)
    const head = difference.head === "" ? "" : ` ${difference.head}`
    return [`${name}:${head}${note}`, ...difference.lines.map((line) => `  ${line}`)]
  }
  return [`${name}: ${terminalText(sideText(before))} → ${terminalText(sideText(after))}${note}`]
}

const attributeLines = (change: ResourceChange, paint: Paint): ReadonlyArray<string> => {
  const { later, shown } = attributesOf(change)
  const lines = shown.flatMap((attribute) =>
    valueLines(
      attribute,
      change.actions,
      attribute.forcesReplacement === true ? paint("magenta", "  # forces replacement") : "",
      paint
    )
  )
  return later.length === 0
    ? lines
    : [...lines, paint("faint", `known after apply: ${later.map(terminalText).join(", ")}`)]
}

/** Formats the address, with the key of a deposed object. */
const objectText = ({ address, deposed }: ResourceChange): string =>
  deposed === undefined ? terminalText(address) : `${terminalText(address)} (deposed object ${terminalText(deposed)})`

const changeLines = (change: ResourceChange, paint: Paint): ReadonlyArray<string> => {
  const [sign, style] = verbs[changeKind(change)]
  const notes = [
    ...(change.deposed === undefined ? [] : ["left over from a replacement that failed; not the live object"]),
    ...(change.tainted === undefined ? [] : ["tainted: it is marked as damaged"]),
    ...(change.importing === undefined
      ? []
      : [`imports ${change.importing.id ?? "an object whose id is not known yet"}`]),
    ...(change.previousAddress === undefined ? [] : [`was ${change.previousAddress}`])
  ]
  const note = notes.length === 0 ? "" : paint("faint", `  # ${terminalText(notes.join(", "))}`)
  const attributes = changeKind(change) === "destroy" ? [] : attributeLines(change, paint)
  return [`  ${paint(style, `${sign} ${objectText(change)}`)}${note}`, ...attributes.map((line) => `      ${line}`)]
}

const publications: Readonly<Record<NonNullable<OutputChange["publication"]>["reason"], string>> = {
  new: "new, and not marked as sensitive",
  mark_removed: "the module no longer marks it as sensitive",
  secret_gone: "it no longer repeats a secret",
  restored: "as in the backup",
  removed: "the module no longer has it",
  marked_sensitive: "the module marks it as sensitive",
  holds_secret: "it repeats a secret"
}

/**
 * Describes an Output that the apply publishes or withdraws, or that remains private because of a secret, regardless of the
 * module's declaration.
 */
const outputNote = ({ origins = [], publication, reason }: OutputChange, paint: Paint): string => {
  const repeated = origins.length === 0 ? "a secret" : origins.map(terminalText).join(", ")
  const notes = [
    ...(publication === undefined
      ? []
      : [
          `${publication.change === "published" ? "becomes public" : "is withdrawn"}: ${publications[publication.reason]}`
        ]),
    ...(reason === undefined
      ? []
      : [publication === undefined ? `stays private: it repeats ${repeated}` : `it repeats ${repeated}`])
  ]
  return notes.length === 0 ? "" : paint("magenta", `  # ${notes.join("; ")}`)
}

const outputLines = ({ outputChanges = [] }: Run, paint: Paint): ReadonlyArray<string> => {
  const changed = outputChanges.filter(isShownOutput)
  if (changed.length === 0) return []
  return [
    "",
    paint("bold", "Outputs"),
    ...changed
      .flatMap((output) => valueLines(output, output.actions, outputNote(output, paint), paint))
      .map((line) => `  ${line}`)
  ]
}

interface CountWords {
  readonly words: Readonly<Record<"destroy" | "replace" | "forget" | "change" | "add" | "import", string>>
  readonly none: string
}

/** Verb forms for the changes in a plan, and for the changes that the plan's apply has made. */
const tenses = {
  planned: {
    words: {
      destroy: "to destroy",
      replace: "to replace",
      forget: "to forget",
      change: "to change",
      add: "to create",
      import: "to import"
    },
    none: "No resource changes."
  },
  applied: {
    words: {
      destroy: "destroyed",
      replace: "replaced",
      forget: "forgotten",
      change: "changed",
      add: "created",
      import: "imported"
    },
    none: "No resource changed."
  }
} satisfies Record<string, CountWords>

const countsText = (counts: Readonly<Record<keyof CountWords["words"], number>>, { none, words }: CountWords) => {
  const kinds = ["destroy", "replace", "forget", "change", "add", "import"] as const
  const said = kinds.filter((kind) => counts[kind] > 0).map((kind) => `${counts[kind]} ${words[kind]}`)
  return said.length === 0 ? none : `${said.join(", ")}.`
}

/** Describes the effect of a plan that accepts drift, or of its apply. */
const acceptedText = ({ driftedResources = 0, planRunId, status }: Run): string => {
  if (driftedResources === 0) return "Every resource is as the state has it."
  const resources = driftedResources === 1 ? "1 resource" : `${driftedResources} resources`
  return planRunId !== undefined && status === "succeeded"
    ? `${resources} accepted: only the state was changed.`
    : `${resources} to accept: only the state changes.`
}

/** Summarises the effect of a plan or an apply in one line. */
export const summaryText = (run: Run): string => {
  const { planRunId, planSummary, status } = run
  if (run.refreshOnly === true) return acceptedText(run)
  if (planSummary === undefined) return "There is no plan."
  return countsText(planSummary, planRunId !== undefined && status === "succeeded" ? tenses.applied : tenses.planned)
}

const commitLine = ({ commitDescription, resolvedCommit }: Run): ReadonlyArray<string> => {
  if (resolvedCommit === undefined) return []
  const about = commitDescription
  const said =
    about === undefined
      ? ""
      : ` ${[
          about.title,
          about.authorName === undefined ? undefined : `by ${about.authorName}`,
          timeText(about.authoredAt)
        ]
          .filter((part) => part !== undefined)
          .map(terminalText)
          .join(" · ")}`
  return [`commit ${shortCommit(resolvedCommit)}${said}`]
}

/** Describes the private data that was made available to the code of an unreviewed ref, and the person responsible. */
const openedLine = ({ openedForRef: use }: Run, paint: Paint): ReadonlyArray<string> => {
  if (use === undefined) return []
  const who = use.openedBy === undefined ? "" : `, by ${terminalText(use.openedBy)}`
  const basis = use.basis === "rule" ? "a rule allows this ref" : "an owner or admin started this"
  const line = `${terminalText(use.ref)} is neither the adopted lane nor the default ref: opened ${use.opened.join(", ")} for its code${who} (${basis})`
  return [paint("yellow", line)]
}

/** Reports a newer commit in the lane if the Run uses the deployed commit. */
const newerLine = ({ newerCommit: newer }: Run, paint: Paint): ReadonlyArray<string> =>
  newer === undefined
    ? []
    : [
        paint(
          "yellow",
          `uses the deployed commit; ${terminalText(newer.ref)} is at the newer commit ${shortCommit(newer.resolvedCommit)}: to use that one, plan and apply it first`
        )
      ]

/** Describes the isolation of the module during a plan and its apply. */
const confinementLine = ({ isolation, network, profile }: Run): ReadonlyArray<string> => {
  const said = [
    ...(isolation === undefined
      ? []
      : [isolation === "process" ? "not isolated, can evade its limits" : `isolated by ${isolation}`]),
    ...(network === undefined ? [] : [`network ${network.replaceAll("_", " ")}`]),
    ...(profile === undefined ? [] : [`profile ${profile}`])
  ]
  return said.length === 0 ? [] : [said.join(" · ")]
}

const driftWords = (kind: ChangeKind): string => {
  if (kind === "destroy" || kind === "forget") return "deleted outside svc"
  return kind === "move" ? "moved by the module, not recorded yet" : "changed outside svc"
}

/** Describes the differences between the state and the real infrastructure, which are changes made outside svc. */
const driftLines = ({ resourceDrift = [] }: Run, paint: Paint): ReadonlyArray<string> => {
  const { groups } = diffOf(resourceDrift, "", true)
  return groups.flatMap(({ changes, kind }) => [
    paint("bold", `${changes.length} ${driftWords(kind)}`),
    ...changes.flatMap((change) => [
      `  ${objectText(change)}`,
      ...(kind === "destroy" ? [] : attributeLines(change, paint).map((line) => `      ${line}`))
    ])
  ])
}

/** Describes how the base of the planned ref has moved, if the movement is relevant for reviewers. */
const baseLines = ({ base }: Run, paint: Paint): ReadonlyArray<string> => {
  if (base === undefined || base.standing === "current") return []
  const ref = terminalText(base.ref)
  if (base.standing === "unknown") return [`It is unknown how ${ref} has moved since this ref left it.`]
  const commits =
    base.behind === undefined ? "newer commits" : `${base.behind} newer commit${base.behind === 1 ? "" : "s"}`
  if (base.standing === "behind") return [`${ref} has ${commits}, which change nothing of this module.`]
  const { undoneFileCount = 0, undoneFiles = [] } = base
  const more = undoneFileCount - undoneFiles.length
  return [
    paint(
      "yellow",
      `warning: ${ref} has ${commits}, and this plan would undo their changes of the module. Update the branch.`
    ),
    ...undoneFiles.map((file) => `  ${terminalText(file)}`),
    ...(more > 0 ? [`  and ${more} more`] : [])
  ]
}

/** Describes the findings of a drift check. */
export const driftText = (run: Run, paint: Paint): string =>
  [...newerLine(run, paint), ...driftLines(run, paint)].join("\n")

const diagnosticLines = (diagnostics: Run["diagnostics"], paint: Paint): ReadonlyArray<string> =>
  (diagnostics ?? []).flatMap(({ code, detail, severity, summary }) => [
    "",
    paint(
      severity === "error" ? "red" : "yellow",
      `${severity}: ${terminalText(summary)}${code === undefined ? "" : ` (${code})`}`
    ),
    ...(detail ?? "").split("\n").flatMap((line) => (line === "" ? [] : [`  ${terminalText(line)}`]))
  ])

const changeText = ({ pullRequestNumber, runId }: NonNullable<Run["carriedFrom"] | Run["differsFrom"]>) =>
  `${pullRequestNumber === undefined ? "" : `#${pullRequestNumber}, `}the speculative plan ${runId}`

/** Describes the approvals that were carried over, or how the plan differs from the change that people approved. */
const carryLines = ({ carriedFrom, differsFrom }: Run, paint: Paint): ReadonlyArray<string> => {
  if (carriedFrom !== undefined) {
    return [`approved as the same change as in ${changeText(carriedFrom)}`]
  }
  if (differsFrom === undefined) return []
  const { lines, moreLines = 0, reasons } = differsFrom
  return [
    "",
    paint("yellow", `differs from what was approved in ${changeText(differsFrom)}:`),
    ...reasons.map(({ code, message }) => `  ${terminalText(message)} (${code})`),
    ...lines.map(({ side, text }) =>
      side === "approved"
        ? paint("red", `  - approved: ${terminalText(text)}`)
        : paint("green", `  + planned:  ${terminalText(text)}`)
    ),
    ...(moreLines === 0 ? [] : [`  and ${moreLines} more lines`])
  ]
}

const pointerNames: Readonly<Record<RestoreEvidence["pointers"][number]["name"], string>> = {
  installConfigId: "configuration",
  modulePath: "module",
  sourceSnapshotId: "snapshot",
  ref: "ref",
  path: "folder",
  resolvedCommit: "commit",
  tool: "tool"
}

const restoreChanges: Readonly<Record<RestoreEvidence["configuration"][number]["change"], string>> = {
  added: "is set again",
  removed: "is no longer set",
  changed: "gets its earlier value"
}

const stateText = ({ generation, resourceCount, serial }: RestoreEvidence["restored"]): string =>
  `generation ${generation}, serial ${serial}, ${resourceCount === 1 ? "1 resource" : `${resourceCount} resources`}`

/**
 * Describes the changes that a restore makes, for reviewers. The text contains the same facts as the dashboard: names and
 * positions, but no values.
 */
const restoreLines = (restore: RestoreEvidence): ReadonlyArray<string> => {
  const { backupCreatedAt, configuration, current, next, outputs = [], restored } = restore
  return [
    `backup of ${timeText(backupCreatedAt) ?? backupCreatedAt} (${restore.backupId})`,
    `state: ${current === undefined ? "none" : stateText(current)} → ${stateText(restored)}`,
    `after the restore: generation ${next.generation}, serial ${next.serial}`,
    ...restore.pointers.map(
      (pointer) =>
        `${pointerNames[pointer.name]}: ${terminalText(pointer.current ?? "(none)")} → ${terminalText(pointer.restored ?? "(none)")}`
    ),
    ...(configuration.length === 0 ? ["The configuration is the same."] : []),
    ...configuration.map(({ change, kind, name }) => `${kind} ${terminalText(name)} ${restoreChanges[change]}`),
    ...outputs.map(
      ({ name, publication }) =>
        `Output ${terminalText(name)} ${publication.change === "published" ? "becomes public" : "is withdrawn"}`
    ),
    "It changes svc's records and no infrastructure. The Capsule needs a plan afterwards."
  ]
}

/**
 * Formats a plan for review. The objects that the plan may miss come first, followed by the riskiest changes, the other
 * changes, the Outputs, the counts and the digest.
 */
export const planText = (
  run: Run,
  title: string,
  paint: Paint,
  nameOf: (subject: string) => string = (subject) => subject
): string => {
  const { groups, noise } = diffOf(run.resourceChanges ?? [])
  const quiet = noise.filter((change) => changeKind(change) !== "none")
  const word = run.speculative === true ? "speculative" : run.purpose
  const purpose = word === undefined ? "" : ` (${word})`
  return [
    paint("bold", `${terminalText(title)}${purpose}`),
    ...commitLine(run),
    ...openedLine(run, paint),
    ...newerLine(run, paint),
    ...baseLines(run, paint),
    ...confinementLine(run),
    ...(run.restore === undefined ? [] : ["", ...restoreLines(run.restore)]),
    ...(run.adopts === undefined ? [] : ["The first plan on a state that was made elsewhere."]),
    ...diagnosticLines(
      run.diagnostics?.filter(({ code }) => code !== undefined),
      paint
    ),
    ...groups.flatMap(({ changes, kind }) => {
      const [sign, style, words] = verbs[kind]
      return [
        "",
        paint(style, `${sign} ${changes.length} ${words}`),
        ...changes.flatMap((each) => changeLines(each, paint))
      ]
    }),
    ...(run.refreshOnly === true && (run.resourceDrift ?? []).length > 0 ? ["", ...driftLines(run, paint)] : []),
    ...(quiet.length === 0
      ? []
      : ["", `~ ${quiet.length} with new labels only`, ...quiet.map(({ address }) => `  ~ ${terminalText(address)}`)]),
    ...outputLines(run, paint),
    ...diagnosticLines(
      run.diagnostics?.filter(({ code }) => code === undefined),
      paint
    ),
    ...carryLines(run, paint),
    "",
    ...decisionLines(run, nameOf),
    ...(run.restore === undefined ? [summaryText(run)] : []),
    ...(run.planDigest === undefined ? [] : [`digest ${run.planDigest}`]),
    ...(run.changeDigest === undefined ? [] : [`change ${run.changeDigest}`])
  ].join("\n")
}
