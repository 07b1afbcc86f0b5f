import { useQuery, useQueryClient } from "@tanstack/react-query"
import { lazy, Suspense, useState } from "react"
import { whenReachable } from "../../api/Reachability.ts"
import { readyMadeQuery, sourcesQuery } from "../../api/Queries.ts"
import { httpsForm, isReadable } from "../../../../schema/git/HttpsForm.ts"
import type { InstallConfig } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { TextField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { GitConnectionField } from "../connections/GitConnectionField.tsx"
import type { DraftState } from "./Draft.ts"
import { readSource } from "./ReadSource.ts"
import { installWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const TrySample = lazy(whenReachable(async () => ({ default: (await import("./TrySample.tsx")).TrySample })))

/** The address of a ready-made configuration, without the slash that marks a folder. */
const readyMadeUrl = (place: { readonly origin: string; readonly path?: string }): string =>
  [place.origin.replace(/\/$/, ""), place.path?.replace(/^\/|\/$/g, "")].filter((part) => part !== undefined).join("/")

const Entry = ({ config, onChoose }: { readonly config: InstallConfig; readonly onChoose: (url: string) => void }) => {
  const words = useWords(installWords)
  const { operator } = config
  if (operator?.place === undefined) return null
  const url = readyMadeUrl(operator.place)
  return (
    <li>
      <Button small onClick={() => onChoose(url)}>
        {operator.name ?? url}
      </Button>{" "}
      <code>{url}</code>{" "}
      <span className="muted">
        {operator.place.module ?? words.readyMadeAll} · {operator.profile}
      </span>
      {operator.description === undefined ? null : <small>{operator.description}</small>}
    </li>
  )
}

/** The operator's ready-made configurations for modules on this server, if any. */
const ReadyMade = ({ onChoose }: { readonly onChoose: (url: string) => void }) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const { data = [] } = useQuery(readyMadeQuery(workspace.id))
  if (data.length === 0) return null
  return (
    <section className="stack">
      <h3>{words.readyMade}</h3>
      <p className="muted">{words.readyMadeAbout}</p>
      <ul className="plain-list">
        {data.map((config) => (
          <Entry key={config.id} config={config} onChoose={onChoose} />
        ))}
      </ul>
    </section>
  )
}

/** Selects the module's repository. Reading the repository syncs the Source, which pins one commit. */
export const SourceStep = ({
  draft,
  change,
  reading,
  onRead
}: Pick<DraftState, "draft" | "change"> & { readonly reading: boolean; readonly onRead: () => void }) => {
  const words = useWords(installWords)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const read = useDecision({
    send: (signal) =>
      readSource(
        queryClient,
        workspace.id,
        {
          url: draft.url.trim(),
          ref: draft.ref.trim(),
          path: draft.path.trim(),
          authConnectionId: draft.authConnectionId
        },
        signal
      ),
    onSuccess: (found) => change({ ...found, modulePath: undefined, reportId: undefined }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: sourcesQuery(workspace.id).queryKey })
  })
  const reset = { sourceId: undefined, syncRunId: undefined, modulePath: undefined, reportId: undefined }
  const done = draft.syncRunId !== undefined
  const https = httpsForm(draft.url)
  const [refused, setRefused] = useState(false)
  const setUrl = (url: string) => {
    setRefused(false)
    change({ ...reset, url })
  }
  return (
    // Browser validation is off here, because the browser would reject addresses for which the page offers a corrected
    // spelling below.
    <form
      className="form"
      noValidate={https !== undefined || refused}
      onSubmit={(event) => {
        event.preventDefault()
        if (reading) return
        // Checked here, because the server rejects the address only after it has created a Source.
        if (isReadable(draft.url)) {
          onRead()
          read.mutate()
        } else setRefused(true)
      }}
    >
      {draft.url === "" ? (
        <Suspense fallback={null}>
          <TrySample />
        </Suspense>
      ) : null}
      <ReadyMade onChoose={setUrl} />
      <TextField
        label={words.url}
        helper={words.urlHelp}
        error={https !== undefined ? words.urlSsh : refused ? words.urlRefused : undefined}
        type="url"
        mono
        required
        autoComplete="off"
        spellCheck={false}
        placeholder="https://github.com/example/infrastructure.git"
        value={draft.url}
        onChange={(event) => setUrl(event.target.value)}
      />
      {https === undefined ? null : (
        <div>
          <Button small onClick={() => setUrl(https)}>
            {words.urlUse(https)}
          </Button>
        </div>
      )}
      <div className="form-pair">
        <TextField
          label={words.ref}
          helper={words.refHelp}
          mono
          required
          autoComplete="off"
          spellCheck={false}
          value={draft.ref}
          onChange={(event) => change({ ...reset, ref: event.target.value })}
        />
        <TextField
          label={words.path}
          helper={words.pathHelp}
          mono
          required
          autoComplete="off"
          spellCheck={false}
          value={draft.path}
          onChange={(event) => change({ ...reset, path: event.target.value })}
        />
      </div>
      <GitConnectionField
        url={draft.url}
        value={draft.authConnectionId}
        onChange={(authConnectionId) => change({ ...reset, authConnectionId })}
      />
      {read.error === null ? null : <FaultNotice error={read.error} />}
      <div className="form-actions">
        <Button type="submit" tone={done ? "plain" : "primary"} icon="source" busy={read.isPending || reading}>
          {reading ? words.reading : done ? words.readAgain : words.read}
        </Button>
      </div>
    </form>
  )
}
