import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { connectionsConfirmOrigins } from "../../api/Endpoints.ts"
import { connectionsQuery } from "../../api/Queries.ts"
import type { Connection } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { CheckField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { useWords } from "../../words/Words.ts"
import { connectionWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

/**
 * Asks for the permitted destinations of an older Git Connection. Nothing is preselected, because an attacker may have chosen the
 * current destinations. Each origin is shown with the person who chose the Connection for it.
 */
export const ConfirmOrigins = ({
  connection,
  onClose
}: {
  readonly connection: Connection
  readonly onClose: () => void
}) => {
  const words = useWords(connectionWords)
  const actorName = useActorName()
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const proposed = connection.proposedOrigins ?? []
  const [chosen, setChosen] = useState<Readonly<Record<string, string | undefined>>>({})
  const origins = proposed.flatMap(({ origin }) => chosen[origin]?.trim() ?? [])
  const confirm = useDecision({
    send: (signal) =>
      call(connectionsConfirmOrigins, { signal, params: { connectionId: connection.id }, body: { origins } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: connectionsQuery(workspace.id).queryKey }),
    onSuccess: onClose
  })
  return (
    <FormDialog
      title={words.confirmTitle(connection.displayName)}
      action={words.confirm}
      incomplete={origins.length === 0}
      change={confirm}
      onSubmit={() => confirm.mutate()}
      onClose={onClose}
    >
      <p>{words.confirmText}</p>
      {proposed.length === 0 ? (
        <Notice tone="info">{words.confirmNone}</Notice>
      ) : (
        <Notice tone="warn">{words.confirmWarning}</Notice>
      )}
      {proposed.map(({ origin, sources }) => {
        const text = chosen[origin]
        return (
          <fieldset key={origin} className="feature">
            <legend>
              <code>{origin}</code>
            </legend>
            <ul>
              {sources.map((source) => (
                <li key={source.id}>
                  <strong>{source.name}</strong> <code>{source.url}</code>{" "}
                  {words.chosenBy(source.chosenBy === undefined ? words.somebody : actorName(source.chosenBy))}
                </li>
              ))}
            </ul>
            <CheckField
              label={words.allowOrigin}
              checked={text !== undefined}
              onChange={(event) => setChosen({ ...chosen, [origin]: event.target.checked ? origin : undefined })}
            />
            {text === undefined ? null : (
              <TextField
                label={words.origin}
                helper={words.originNarrow}
                mono
                required
                spellCheck={false}
                value={text}
                onChange={(event) => setChosen({ ...chosen, [origin]: event.target.value })}
              />
            )}
          </fieldset>
        )
      })}
    </FormDialog>
  )
}
