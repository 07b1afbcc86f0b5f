import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import type { Schema } from "effect"
import { useState } from "react"
import { advance, call } from "../../api/Call.ts"
import { installPlansCreate, installPlansReconcile } from "../../api/Endpoints.ts"
import { runQuery } from "../../api/Queries.ts"
import type { CompatibilityReport, InstallConfig, InstallPlan, NewDependency, SourceSnapshot } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { Facts } from "../../ui/Layout.tsx"
import { CheckField } from "../../ui/Field.tsx"
import { repositoryName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { BuildDisclosure } from "./BuildDisclosure.tsx"
import { requirementKey } from "./ConnectionsStep.tsx"
import type { InstallDraft } from "./Draft.ts"
import { contentKey } from "./ContentKey.ts"
import { Findings } from "./ModuleStep.tsx"
import { importWords } from "./ImportWords.ts"
import { adoptOf, type TakenState } from "./TakeOver.tsx"
import { takeOverWords } from "./TakeOverWords.ts"
import { installWords } from "./Words.ts"
import { CommitLine } from "../../ui/Commit.tsx"
import { useDecision } from "../../ui/Decision.ts"

/** The name of the field that allows a source build. */
export const buildField = "build-read"

/** The id of the button that creates the plan. */
export const planButton = "make-plan"

interface ReviewStepProps {
  readonly draft: InstallDraft
  readonly snapshot: SourceSnapshot
  readonly report: CompatibilityReport
  readonly config: InstallConfig | undefined
  readonly values: Readonly<Record<string, Schema.Json>>
  readonly dependencies: ReadonlyArray<NewDependency>
  readonly taken: TakenState | undefined
  readonly buildRead: boolean
  readonly onBuildRead: (read: boolean) => void
  readonly ready: boolean
  /**
   * The id of this step's form. Fields of the other steps use this form, so that pressing Enter in any field creates the
   * plan.
   */
  readonly form: string
  readonly onTried: () => void
  readonly onDone: (made: InstallPlan) => void
}

export const ReviewStep = ({
  draft,
  snapshot,
  report,
  config,
  values,
  dependencies,
  taken,
  buildRead,
  onBuildRead,
  ready,
  form,
  onTried,
  onDone
}: ReviewStepProps) => {
  const words = useWords(installWords)
  const takeOver = useWords(takeOverWords)
  const imports = useWords(importWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [phase, setPhase] = useState<InstallPlan["phase"] | undefined>(undefined)
  const build = config?.sourceBuild
  const bindings = report.rootProviderRequirements.flatMap((requirement) => {
    const connectionId = draft.bindings[requirementKey(requirement)]
    return connectionId === undefined || connectionId === "" ? [] : [{ ...requirement, connectionId }]
  })
  const plan = useDecision({
    send: async (signal) => {
      // The preflight pins exactly the values that this page showed, including the id of the Run that checked them, which
      // the report contains.
      const body = {
        source: {
          name: repositoryName(snapshot.url).slice(0, 80),
          url: snapshot.url,
          ref: snapshot.ref,
          path: snapshot.path,
          ...(draft.authConnectionId === "" ? {} : { authConnectionId: draft.authConnectionId })
        },
        capsule: { name: draft.name.trim(), environment: draft.environment.trim() },
        options: { modulePath: report.modulePath, providerBindings: bindings },
        preflight: {
          sourceId: snapshot.sourceId,
          sourceSnapshotId: snapshot.id,
          compatibilityCheckRunId: report.createdByRunId,
          compatibilityReportId: report.id,
          ...(report.installConfigId === undefined ? {} : { installConfigId: report.installConfigId })
        },
        ...(build === undefined ? {} : { initialConfiguration: { sourceBuild: build } }),
        ...(dependencies.length === 0 ? {} : { dependencies }),
        ...adoptOf(taken),
        variables: values
      }
      const { installPlan } = await call(installPlansCreate, {
        signal,
        params: { workspaceId: workspace.id },
        body,
        idempotencyKey: `${draft.id}-${contentKey(body)}`
      })
      const last = await advance(
        installPlan,
        (id) =>
          call(installPlansReconcile, { signal, params: { installPlanId: id } }).then((answer) => answer.installPlan),
        (step) => setPhase(step.phase)
      )
      return last
    },
    onSuccess: async (last) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      if (last.planRunId === undefined) {
        // An imported Capsule has no plan until it is confirmed.
        if (last.phase === "failed" || last.capsuleId === undefined) return
        onDone(last)
        void navigate({
          to: "/w/$workspace/capsules/$capsuleId",
          params: { workspace: workspace.handle, capsuleId: last.capsuleId }
        })
        return
      }
      await queryClient.prefetchQuery(runQuery(last.planRunId))
      onDone(last)
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: last.planRunId } })
    }
  })
  const isImport = taken?.upload.importedFrom !== undefined
  const failed = plan.data?.phase === "failed" ? plan.data : undefined
  return (
    <div className="stack">
      <Facts
        items={[
          [
            words.reviewSource,
            <span key="source">
              {repositoryName(snapshot.url)} <code>{snapshot.ref}</code>{" "}
              <CommitLine id={snapshot.resolvedCommit} description={snapshot.commitDescription} />
            </span>
          ],
          [
            words.profile,
            config?.operator === undefined ? undefined : <code key="profile">{config.operator.profile}</code>
          ],
          [words.operatorSets, config?.operator?.variables.join(", ") || undefined],
          [words.checksAfter, config?.operator?.postApply.map(({ name }) => name).join(", ") || undefined],
          [words.reviewModule, <code key="module">{report.modulePath}</code>],
          [words.reviewName, `${draft.name.trim()} · ${draft.environment.trim()}`],
          [words.reviewInputs, Object.keys(values).length === 0 ? undefined : Object.keys(values).join(", ")],
          [
            words.reviewFrom,
            dependencies.length === 0
              ? undefined
              : dependencies.flatMap(({ outputs }) => outputs.map(({ to }) => to)).join(", ")
          ],
          [
            takeOver.review,
            taken === undefined ? undefined : takeOver.facts(taken.upload.resourceCount, taken.upload.serial)
          ],
          [
            words.reviewConnections,
            bindings.length === 0 ? undefined : bindings.map(({ moduleLocalName }) => moduleLocalName).join(", ")
          ]
        ]}
      />
      {build === undefined ? null : (
        <div className="build-frame">
          <h3>{words.build}</h3>
          <BuildDisclosure build={build} />
          <CheckField
            label={words.buildAllow}
            name={buildField}
            checked={buildRead}
            onChange={(event) => onBuildRead(event.target.checked)}
          />
        </div>
      )}
      {taken === undefined ? null : (
        <Notice tone="warn" title={isImport ? imports.unlocked : takeOver.unlocked}>
          <p>{isImport ? imports.unlockedText : takeOver.unlockedText}</p>
        </Notice>
      )}
      {failed === undefined ? null : (
        <Notice tone="bad" title={words.phases.failed}>
          <Findings findings={failed.diagnostics} />
        </Notice>
      )}
      {plan.error === null ? null : <FaultNotice error={plan.error} />}
      <form
        id={form}
        className="form-actions"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (plan.isPending) return
          onTried()
          if (ready) plan.mutate()
        }}
      >
        <Button id={planButton} type="submit" tone="primary" icon="run" busy={plan.isPending}>
          {isImport ? imports.create : words.makePlan}
        </Button>
        <output className="muted">
          {plan.isPending && phase !== undefined ? words.phases[phase] : words.reviewNote}
        </output>
      </form>
    </div>
  )
}
