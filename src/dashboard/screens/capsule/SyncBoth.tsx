import { useQuery, useQueryClient } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { call } from "../../api/Call.ts"
import { capsulesUpdate, sourcesUpdate } from "../../api/Endpoints.ts"
import { capsuleQuery, capsulesQuery, sourceQuery, sourcesQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { toast } from "../../ui/Toast.tsx"
import { repositoryName } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"

const en = {
  title: "No new commit arrives here",
  text: "The source does not sync automatically: neither a webhook nor the schedule reads it.",
  both: "Turn on both",
  sync: "Sync the source automatically",
  others: "Other capsules of this source:",
  planned: "also plans new commits then",
  disabled: "The source is disabled."
}

const ja: typeof en = {
  title: "新しいコミットは届きません",
  text: "ソースは自動で同期しません。Webhook でもスケジュールでも読み取られません。",
  both: "両方を有効にする",
  sync: "ソースを自動で同期する",
  others: "このソースを使うほかのカプセル:",
  planned: "新しいコミットを同様にプランします",
  disabled: "ソースは無効です。"
}

export const syncBothWords = { en, ja }

/** Shown if auto-update is on but its Source does not sync automatically. */
export const SyncBoth = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(syncBothWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const { data: source } = useQuery(sourceQuery(capsule.sourceId))
  const { data: capsules = [] } = useQuery(capsulesQuery(workspace.id))
  const turnOn = useDecision({
    // Updates the Source first, because the page still offers the missing step if the second update fails.
    send: async (signal) => {
      await call(sourcesUpdate, { signal, params: { sourceId: capsule.sourceId }, body: { autoSync: true } })
      if (capsule.autoUpdate.enabled) return
      await call(capsulesUpdate, {
        signal,
        params: { capsuleId: capsule.id },
        body: { autoUpdate: { enabled: true, apply: false } }
      })
    },
    onSuccess: () => toast(terms.saved),
    onSettled: () =>
      Promise.all(
        [sourceQuery(capsule.sourceId), sourcesQuery(workspace.id), capsuleQuery(capsule.id)].map(({ queryKey }) =>
          queryClient.invalidateQueries({ queryKey })
        )
      )
  })
  if (source === undefined || (source.autoSync && source.status !== "disabled")) return null
  const others = capsules.filter(
    ({ id, sourceId, status }) => sourceId === capsule.sourceId && id !== capsule.id && !isEnded(status)
  )
  return (
    <Notice tone={capsule.autoUpdate.enabled ? "warn" : "info"} title={words.title}>
      <p>
        {source.status === "disabled" ? words.disabled : words.text}{" "}
        <Link to="/w/$workspace/sources/$sourceId" params={{ workspace: workspace.handle, sourceId: capsule.sourceId }}>
          {repositoryName(source.url)}
        </Link>
      </p>
      {others.length === 0 ? null : (
        <>
          <p>{words.others}</p>
          <ul className="plain-list">
            {others.map(({ autoUpdate, environment, id, name }) => (
              <li key={id}>
                {name} <span className="tag">{environment}</span>{" "}
                {autoUpdate.enabled ? <span className="muted">{words.planned}</span> : null}
              </li>
            ))}
          </ul>
        </>
      )}
      {turnOn.error === null ? null : <FaultNotice error={turnOn.error} />}
      {source.status === "disabled" || !may("admin") ? null : (
        <Button small busy={turnOn.isPending} onClick={() => turnOn.mutate()}>
          {capsule.autoUpdate.enabled ? words.sync : words.both}
        </Button>
      )}
    </Notice>
  )
}
