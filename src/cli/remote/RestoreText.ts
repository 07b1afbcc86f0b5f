import type { RestoreEvidence } from "../../../schema/records/RestoreEvidence.ts"
import { timeText } from "./Rows.ts"
import { terminalText } from "./TerminalText.ts"

const pointers: Readonly<Record<RestoreEvidence["pointers"][number]["name"], string>> = {
  installConfigId: "configuration",
  modulePath: "module",
  sourceSnapshotId: "snapshot",
  ref: "ref",
  path: "folder",
  resolvedCommit: "commit",
  tool: "tool"
}

const changes: Readonly<Record<RestoreEvidence["configuration"][number]["change"], string>> = {
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
export const restoreLines = (restore: RestoreEvidence): ReadonlyArray<string> => {
  const { backupCreatedAt, configuration, current, next, outputs = [], restored } = restore
  return [
    `backup of ${timeText(backupCreatedAt) ?? backupCreatedAt} (${restore.backupId})`,
    `state: ${current === undefined ? "none" : stateText(current)} → ${stateText(restored)}`,
    `after the restore: generation ${next.generation}, serial ${next.serial}`,
    ...restore.pointers.map(
      (pointer) =>
        `${pointers[pointer.name]}: ${terminalText(pointer.current ?? "(none)")} → ${terminalText(pointer.restored ?? "(none)")}`
    ),
    ...(configuration.length === 0 ? ["The configuration is the same."] : []),
    ...configuration.map(({ change, kind, name }) => `${kind} ${terminalText(name)} ${changes[change]}`),
    ...outputs.map(
      ({ name, publication }) =>
        `Output ${terminalText(name)} ${publication.change === "published" ? "becomes public" : "is withdrawn"}`
    ),
    "It changes svc's records and no infrastructure. The Capsule needs a plan afterwards."
  ]
}
