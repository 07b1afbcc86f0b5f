import { useQuery } from "@tanstack/react-query"
import { useEffect } from "react"
import { call } from "../../api/Call.ts"
import { sourcesCompatibilityCheck } from "../../api/Endpoints.ts"
import { installModulesQuery, reportQuery } from "../../api/Queries.ts"
import type { CompatibilityReport, Finding, InstallModule, SourceSnapshot } from "../../api/Types.ts"
import { Empty, FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { Facts } from "../../ui/Layout.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { bytes, providerName, repositoryName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import type { DraftState } from "./Draft.ts"
import { installWords } from "./Words.ts"
import { Commit } from "../../ui/Commit.tsx"
import { useDecision } from "../../ui/Decision.ts"

export const SnapshotFacts = ({ snapshot }: { readonly snapshot: SourceSnapshot }) => {
  const words = useWords(installWords)
  return (
    <>
      <Facts
        columns
        items={[
          [
            words.commit,
            <Commit
              key="commit"
              id={snapshot.resolvedCommit}
              description={snapshot.commitDescription}
              gitAddress={snapshot.url}
            />
          ],
          [words.snapshot, words.files(snapshot.fileCount, bytes(snapshot.archiveSizeBytes))],
          [words.manifest, words.manifests[snapshot.repositoryManifest.status]],
          [words.manifestReason, snapshot.repositoryManifest.reason]
        ]}
      />
      {snapshot.omitted.length === 0 ? null : <p className="muted">{words.omitted(snapshot.omitted.length)}</p>}
    </>
  )
}

const findingTone: Readonly<Record<Finding["severity"], StatusTone>> = {
  error: "bad",
  warning: "attention",
  info: "neutral"
}

export const Findings = ({ findings }: { readonly findings: ReadonlyArray<Finding> }) => {
  const words = useWords(installWords)
  return findings.length === 0 ? null : (
    <ul className="findings">
      {findings.map((finding, index) => (
        <li key={index}>
          <Status tone={findingTone[finding.severity]}>{words.findings[finding.severity]}</Status>
          <span>
            <span lang="en">{finding.message}</span>
            {finding.path === undefined ? null : (
              <code className="finding-place">{`${finding.path}${finding.line === undefined ? "" : `:${finding.line}`}`}</code>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

/**
 * The reason why a module does not use its repository's manifest. If the manifest is an invalid document, the reason is
 * shown with the snapshot instead.
 */
const DroppedManifest = ({ manifest }: { readonly manifest: CompatibilityReport["manifest"] }) => {
  const words = useWords(installWords)
  if (manifest.status !== "rejected") return null
  return (
    <Notice tone="warn" title={words.manifestDropped}>
      <ul className="findings">
        {manifest.diagnostics.map(({ message, path }, index) => (
          <li key={index}>
            <span>
              {message} <code className="finding-place">{path}</code>
            </span>
          </li>
        ))}
      </ul>
      {manifest.dropped === undefined || manifest.dropped.length === 0 ? null : (
        <p className="muted">{words.manifestWithout(manifest.dropped.join(", "))}</p>
      )}
    </Notice>
  )
}

const Choice = ({
  module,
  chosen,
  onChoose
}: {
  readonly module: InstallModule
  readonly chosen: boolean
  readonly onChoose: () => void
}) => {
  const words = useWords(installWords)
  return (
    <label className={chosen ? "choice choice-on" : "choice"}>
      <input
        type="radio"
        name="module"
        checked={chosen}
        disabled={module.status === "unsupported"}
        onChange={onChoose}
      />
      <code>{module.path}</code>
      <span className="muted">
        {module.status === "unsupported"
          ? words.unsupported
          : module.providerPackages.length === 0
            ? words.providersNone
            : module.providerPackages.map(({ source }) => providerName(source)).join(", ")}
      </span>
    </label>
  )
}

/** A suggested name for the Capsule: the module's folder, or the repository if it only contains the module. */
const suggestedName = (url: string, path: string): string =>
  (path === "." ? repositoryName(url) : path).split("/").at(-1)?.slice(0, 80) ?? ""

interface ModuleStepProps extends Pick<DraftState, "draft" | "change"> {
  readonly snapshot: SourceSnapshot
  readonly wanted: string | undefined
}

export const ModuleStep = ({ draft, change, snapshot, wanted }: ModuleStepProps) => {
  const words = useWords(installWords)
  const modules = useQuery(installModulesQuery(snapshot.sourceId, snapshot.id))
  const check = useDecision({
    send: async (signal, modulePath: string) => {
      const { compatibilityReport } = await call(sourcesCompatibilityCheck, {
        signal,
        params: { sourceId: snapshot.sourceId },
        body: { sourceSnapshotId: snapshot.id, modulePath }
      })
      return { modulePath, reportId: compatibilityReport.id }
    },
    onSuccess: (found) => change(found)
  })
  const report = useQuery({ ...reportQuery(draft.reportId ?? ""), enabled: draft.reportId !== undefined })
  const found = modules.data?.modules
  const only = found?.length === 1 ? found[0]?.path : undefined
  const auto = wanted !== undefined && found?.some(({ path }) => path === wanted) === true ? wanted : only
  const choose = (path: string) => {
    const proposedName = suggestedName(snapshot.url, path)
    const isOwn = draft.name !== "" && draft.name !== draft.proposedName
    change({ modulePath: path, reportId: undefined, ...(isOwn ? {} : { name: proposedName, proposedName }) })
    check.mutate(path)
  }
  useEffect(() => {
    if (auto !== undefined && draft.modulePath === undefined && check.isIdle) choose(auto)
  })
  return (
    <div className="stack">
      <SnapshotFacts snapshot={snapshot} />
      <Loadable query={modules}>
        {(data) =>
          data.modules.length === 0 ? (
            <Empty icon="search" title={words.modulesNone}>
              <p>{words.modulesNoneText}</p>
            </Empty>
          ) : (
            <fieldset className="choices">
              <legend>{data.modules.length === 1 ? words.moduleOnly : words.choose}</legend>
              {wanted === undefined || data.modules.some(({ path }) => path === wanted) ? null : (
                <Notice tone="bad">{words.notInScan(wanted)}</Notice>
              )}
              {data.modules.map((module) => (
                <Choice
                  key={module.path}
                  module={module}
                  chosen={draft.modulePath === module.path}
                  onChoose={() => choose(module.path)}
                />
              ))}
              {data.modules
                .filter(({ path }) => path === draft.modulePath || data.modules.length === 1)
                .map((module) => (
                  <Findings key={module.path} findings={module.status === "unsupported" ? module.findings : []} />
                ))}
            </fieldset>
          )
        }
      </Loadable>
      {check.isPending ? (
        <output className="working">
          <span className="spinner" aria-hidden="true" /> {words.checking}
        </output>
      ) : null}
      {check.error === null ? null : (
        <FaultNotice
          error={check.error}
          onRetry={draft.modulePath === undefined ? undefined : () => check.mutate(draft.modulePath ?? ".")}
        />
      )}
      {report.data === undefined ? null : (
        <div className="stack">
          <Notice
            tone={report.data.status === "ready" ? "good" : report.data.status === "unsupported" ? "bad" : "warn"}
            title={words.report[report.data.status]}
          >
            <Findings findings={report.data.findings} />
          </Notice>
          <DroppedManifest manifest={report.data.manifest} />
        </div>
      )}
    </div>
  )
}
