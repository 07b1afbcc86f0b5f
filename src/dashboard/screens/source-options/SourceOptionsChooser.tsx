import "../../app/Kit.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { Result } from "effect"
import { useMemo, useState } from "react"
import { parseSourceOptions, type SourceOption } from "../../../../schema/manifest/SourceOptions.ts"
import { call } from "../../api/Call.ts"
import { sourcesStableSemver } from "../../api/Endpoints.ts"
import { snapshotFileQuery } from "../../api/Queries.ts"
import type { SnapshotFile, SourceSnapshot } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { bytes, repositoryName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import type { OptionsLink } from "../install/InstallLink.ts"
import { ReadFailure } from "../install/ReadFailure.tsx"
import { readSource, useSnapshot, type SourceReading } from "../install/ReadSource.ts"
import { sourceOptionsWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

/**
 * The progress of reading a link's document. The progress is stored in this browser tab, so that reading continues after a
 * reload.
 */
interface DocumentReading extends SourceReading {
  /** Set only if the link contains no revision. */
  readonly tag?: string
}

const text = (value: unknown, name: string): string | undefined => {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined
  return typeof found === "string" ? found : undefined
}

/** Restores a stored value, and ignores unexpected contents. */
const restoreReading = (kept: string | null): DocumentReading | undefined => {
  let parsed: unknown
  try {
    parsed = JSON.parse(kept ?? "null")
  } catch {
    return undefined
  }
  const sourceId = text(parsed, "sourceId")
  const syncRunId = text(parsed, "syncRunId")
  const tag = text(parsed, "tag")
  if (sourceId === undefined || syncRunId === undefined) return undefined
  return { sourceId, syncRunId, ...(tag === undefined ? {} : { tag }) }
}

const readKept = (key: string): string | null => {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return null
  }
}

const useDocumentReading = (link: OptionsLink, workspaceId: string) => {
  const key = `svc.options ${workspaceId} ${JSON.stringify(link)}`
  const [reading, setReading] = useState(() => restoreReading(readKept(key)))
  return {
    reading,
    keep: (next: DocumentReading): void => {
      setReading(next)
      try {
        sessionStorage.setItem(key, JSON.stringify(next))
      } catch {
        // If storage is unavailable, the progress is lost when the page closes.
      }
    }
  }
}

const newestStable = (workspaceId: string, url: string, signal: AbortSignal) =>
  call(sourcesStableSemver, { signal, params: { workspaceId }, body: { url } })

const useDocument = (link: OptionsLink) => {
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const { reading, keep } = useDocumentReading(link, workspace.id)
  const found = useSnapshot(reading ?? {})
  const read = useDecision({
    send: async (signal) => {
      const version = link.ref === undefined ? await newestStable(workspace.id, link.url, signal) : undefined
      const began = await readSource(
        queryClient,
        workspace.id,
        {
          url: link.url,
          ref: link.ref ?? version?.commit ?? "",
          path: ".",
          authConnectionId: ""
        },
        signal
      )
      return { ...began, ...(version === undefined ? {} : { tag: version.tag }) }
    },
    onSuccess: keep
  })
  const file = useQuery({
    ...snapshotFileQuery(found.snapshot?.sourceId ?? "", found.snapshot?.id ?? "", link.path),
    enabled: found.snapshot !== undefined
  })
  return { ...found, tag: reading?.tag, read, file }
}

interface DocumentFactsProps {
  readonly link: OptionsLink
  readonly tag: string | undefined
  readonly snapshot: SourceSnapshot | undefined
  readonly file: SnapshotFile | undefined
}

const DocumentFacts = ({ link, tag, snapshot, file }: DocumentFactsProps) => {
  const words = useWords(sourceOptionsWords)
  return (
    <Facts
      items={[
        [words.git, <code key="git">{link.url}</code>],
        [words.path, <code key="path">{link.path}</code>],
        [
          words.requested,
          link.ref === undefined ? (
            tag === undefined ? (
              words.newest
            ) : (
              words.newestFound(tag)
            )
          ) : (
            <code key="ref">{link.ref}</code>
          )
        ],
        [words.commit, snapshot === undefined ? undefined : <CopyText key="commit" text={snapshot.resolvedCommit} />],
        [words.digest, file === undefined ? undefined : <CopyText key="digest" text={file.digest} />],
        [words.size, file === undefined ? undefined : bytes(file.sizeBytes)]
      ]}
    />
  )
}

const Choice = ({
  option,
  chosen,
  onChoose
}: {
  readonly option: SourceOption
  readonly chosen: boolean
  readonly onChoose: () => void
}) => {
  const words = useWords(sourceOptionsWords)
  const { path, ref, url } = option.source
  return (
    <label className={chosen ? "choice choice-on" : "choice"}>
      <input type="radio" name="option" checked={chosen} onChange={onChoose} />
      <span className="choice-text">
        <strong>{option.title}</strong>
        <code>{path === "." ? repositoryName(url) : `${repositoryName(url)}//${path}`}</code>
      </span>
      <span className="muted">{ref ?? words.newest}</span>
    </label>
  )
}

const Choices = ({ file }: { readonly file: SnapshotFile }) => {
  const words = useWords(sourceOptionsWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const document = useMemo(() => parseSourceOptions(new TextEncoder().encode(file.text)), [file.text])
  const [chosenId, setChosenId] = useState<string | undefined>(undefined)
  const proceed = useDecision({
    send: async (signal, { source }: SourceOption) => ({
      git: source.url,
      // The commit is pinned before anything is read from it.
      ref: source.ref ?? (await newestStable(workspace.id, source.url, signal)).commit,
      sourcePath: source.path
    }),
    onSuccess: (search) => navigate({ href: `/new?${new URLSearchParams(search).toString()}` })
  })
  if (Result.isFailure(document)) {
    return (
      <Notice tone="bad" title={words.refused}>
        <p>{words.refusedText}</p>
        <ul>
          {document.failure.diagnostics.map(({ message, path }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      </Notice>
    )
  }
  const { metadata, options } = document.success
  const chosen = options.find(({ id }) => id === chosenId)
  return (
    <Panel title={metadata.title} {...(metadata.description === undefined ? {} : { about: metadata.description })}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (chosen !== undefined) proceed.mutate(chosen)
        }}
      >
        <fieldset className="choices">
          <legend>{words.choose}</legend>
          {options.map((option) => (
            <Choice
              key={option.id}
              option={option}
              chosen={option.id === chosenId}
              onChoose={() => setChosenId(option.id)}
            />
          ))}
        </fieldset>
        {proceed.error === null ? null : <FaultNotice error={proceed.error} />}
        <div className="form-actions">
          <Button tone="primary" type="submit" busy={proceed.isPending} disabled={chosen === undefined}>
            {words.proceed}
          </Button>
        </div>
      </form>
    </Panel>
  )
}

/**
 * Handles a link to a document with several sources. Shows exactly which document the link refers to, and continues with one
 * of the document's sources.
 */
export const SourceOptionsChooser = ({ link }: { readonly link: OptionsLink }) => {
  const words = useWords(sourceOptionsWords)
  const { file, read, run, snapshot, tag } = useDocument(link)
  const busy =
    read.isPending ||
    run?.status === "queued" ||
    run?.status === "running" ||
    (snapshot !== undefined && file.isPending)
  return (
    <div className="stack">
      <Panel title={words.document} about={words.about}>
        <div className="form">
          <DocumentFacts link={link} tag={tag} snapshot={snapshot} file={file.data} />
          {read.error === null ? null : <FaultNotice error={read.error} />}
          {run?.status === "failed" || run?.status === "cancelled" ? <ReadFailure run={run} /> : null}
          {file.data === undefined ? (
            <div className="form-actions">
              <Button tone="primary" icon="source" busy={busy} onClick={() => read.mutate()}>
                {busy ? words.reading : words.read}
              </Button>
              {busy ? null : <span className="muted">{words.readNote}</span>}
            </div>
          ) : null}
        </div>
      </Panel>
      {snapshot === undefined || file.isPending ? null : (
        <Loadable query={file}>{(found) => <Choices file={found} />}</Loadable>
      )}
    </div>
  )
}
