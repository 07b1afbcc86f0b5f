import { Link } from "@tanstack/react-router"
import type { Capsule, Run } from "../api/Types.ts"
import { RunStatus } from "../ui/Status.tsx"
import { Sum } from "../ui/Sum.tsx"
import { Time } from "../ui/Time.tsx"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { useActorName } from "./Actors.ts"
import { SourceName } from "./SourceName.tsx"
import { useWorkspace } from "./Workspace.ts"
import { CommitLine } from "../ui/Commit.tsx"

interface RunListProps {
  readonly runs: ReadonlyArray<Run>
  /**
   * Provides the names of the Runs. Leave it out on a Capsule's own page, because there each line would repeat the same
   * name.
   */
  readonly capsules?: ReadonlyArray<Capsule>
}

const kindOf = ({ speculative, type }: Run, words: typeof vocabulary.en) =>
  speculative === true ? words.speculativePlan : words.runType[type]

/** A Run without a Capsule belongs to a Source. */
const SourceOrKind = ({ run }: { readonly run: Run }) => {
  const words = useWords(vocabulary)
  const kind = kindOf(run, words)
  return run.capsuleId !== undefined || run.sourceId === undefined ? (
    <strong>{kind}</strong>
  ) : (
    <SourceName id={run.sourceId}>{kind}</SourceName>
  )
}

export const RunList = ({ runs, capsules }: RunListProps) => {
  const words = useWords(vocabulary)
  const workspace = useWorkspace()
  const actorName = useActorName()
  const named = new Map((capsules ?? []).map((capsule) => [capsule.id, capsule]))
  return (
    <ul className="rows rows-runs">
      {runs.map((run) => {
        const capsule = run.capsuleId === undefined ? undefined : named.get(run.capsuleId)
        return (
          <li key={run.id}>
            <Link
              to="/w/$workspace/runs/$runId"
              params={{ workspace: workspace.handle, runId: run.id }}
              className="row row-run"
            >
              <span className="row-name">
                {capsule === undefined ? (
                  <SourceOrKind run={run} />
                ) : (
                  <>
                    <strong>{capsule.name}</strong>
                    <span className="tag">{capsule.environment}</span>
                    <span className="muted">{kindOf(run, words)}</span>
                  </>
                )}
                {run.planSummary === undefined ? null : <Sum summary={run.planSummary} />}
              </span>
              <span className="row-commit">
                {run.resolvedCommit === undefined ? null : (
                  <CommitLine id={run.resolvedCommit} description={run.commitDescription} withAuthor={false} />
                )}
              </span>
              <span className="row-who">
                {run.createdBy === undefined ? words.trigger[run.trigger] : actorName(run.createdBy)} ·{" "}
                <Time at={run.createdAt} />
              </span>
              <RunStatus run={run} />
            </Link>
          </li>
        )
      })}
    </ul>
  )
}
