import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { call } from "../../api/Call.ts"
import { sourcesRemove } from "../../api/Endpoints.ts"
import { sourcesQuery } from "../../api/Queries.ts"
import type { Capsule, Source } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { sourceWords } from "../sources/Words.ts"

/** Removes a Source that has no existing Capsules. */
export const RemoveSource = ({
  source,
  capsules
}: {
  readonly source: Source
  readonly capsules: ReadonlyArray<Capsule>
}) => {
  const words = useWords(sourceWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const used = capsules.some(({ status }) => !isEnded(status))
  return (
    <Panel title={words.removeTitle} tone="danger">
      <p>{used ? words.removeUsed : words.removeText}</p>
      {used ? null : (
        <Button tone="danger" icon="trash" onClick={() => setAsking(true)}>
          {words.remove}
        </Button>
      )}
      {asking ? (
        <RemovalDialog
          title={words.removeAsk(source.name)}
          action={words.remove}
          remove={(signal) => call(sourcesRemove, { signal, params: { sourceId: source.id } })}
          onRemoved={() => navigate({ to: "/w/$workspace/sources", params: { workspace: workspace.handle } })}
          list={sourcesQuery(source.workspaceId).queryKey}
          onClose={() => setAsking(false)}
        >
          {words.removeText}
        </RemovalDialog>
      ) : null}
    </Panel>
  )
}
