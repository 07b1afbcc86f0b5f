import type { Capsule, Run, RunApprovals } from "../../api/Types.ts"
import { SourceCommit } from "../../app/SourceCommit.tsx"
import { Facts } from "../../ui/Layout.tsx"
import { shortDigest } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { standingWords } from "./ApprovalStandingWords.ts"
import { planBasisWords } from "./PlanBasisWords.ts"
import { runWords } from "./Words.ts"

/** Describes the plan in a sentence, unless the plan is for the newest commit of its lane. A restore has its own text. */
const useWhat = (run: Run): string | undefined => {
  const { what } = useWords(planBasisWords)
  if (run.type === "destroy_plan") return what.destroy
  if (run.purpose !== undefined) return what[run.purpose]
  return run.adopts === undefined ? undefined : what.adopt
}

export const PlanPurposeText = ({ run }: { readonly run: Run }) => {
  const what = useWhat(run)
  return what === undefined ? null : <p data-testid="plan-what">{what}</p>
}

const Inputs = ({ inputs }: { readonly inputs: NonNullable<Run["injectedInputs"]> }) => {
  const words = useWords(planBasisWords)
  return (
    <ul className="plain-list">
      {inputs.map(({ change, input }) => (
        <li key={input}>
          <code>{input}</code> <span className="muted">{words.inputChange[change]}</span>
        </li>
      ))}
    </ul>
  )
}

const Rules = ({ standing }: { readonly standing: RunApprovals }) => {
  const words = useWords(planBasisWords)
  const { roles } = useWords(standingWords)
  if (standing.rules.length === 0) return <>{words.noRule}</>
  return (
    <ul className="plain-list">
      {standing.rules.map(({ rule, teamName }) => (
        <li key={rule.id}>
          {words.needs(rule.approvers, teamName ?? roles[rule.role])}
          {rule.planAuthorCounts ? null : <span className="muted"> · {words.notAuthor}</span>}
        </li>
      ))}
    </ul>
  )
}

/** Names of the Outputs that the apply publishes to readers of the Capsule. Plans of earlier releases list only new Outputs. */
export const newlyPublic = ({ outputChanges = [], publicOutputs }: Pick<Run, "outputChanges" | "publicOutputs">) =>
  outputChanges
    .filter(({ actions, publication, reason, sensitive }) =>
      publicOutputs === undefined
        ? actions.includes("create") && !sensitive && reason === undefined
        : publication?.change === "published"
    )
    .map(({ name }) => name)

/** Names of the Outputs that the apply withdraws from readers of the Capsule. */
const withdrawnOutputs = ({ outputChanges = [] }: Pick<Run, "outputChanges">) =>
  outputChanges.filter(({ publication }) => publication?.change === "withdrawn").map(({ name }) => name)

/** The recorded facts that an approval covers. The person sees them last before deciding. */
export const PlanBasis = ({
  run,
  capsule,
  standing
}: {
  readonly run: Run
  readonly capsule: Capsule | undefined
  readonly standing: RunApprovals | undefined
}) => {
  const words = useWords(planBasisWords)
  const facts = useWords(runWords)
  const outputs = newlyPublic(run)
  const withdrawn = withdrawnOutputs(run)
  const inputs = run.injectedInputs ?? []
  return (
    <Facts
      columns
      items={[
        [facts.capsule, capsule?.name],
        [facts.environment, capsule?.environment],
        [
          facts.commit,
          run.resolvedCommit === undefined ? undefined : (
            <SourceCommit
              key="commit"
              sourceId={run.sourceId ?? capsule?.sourceId}
              id={run.resolvedCommit}
              description={run.commitDescription}
            />
          )
        ],
        [words.inputs, inputs.length === 0 ? undefined : <Inputs key="inputs" inputs={inputs} />],
        [words.publicOutputs, outputs.length === 0 ? undefined : <code key="outputs">{outputs.join(", ")}</code>],
        [
          words.withdrawnOutputs,
          withdrawn.length === 0 ? undefined : <code key="withdrawn">{withdrawn.join(", ")}</code>
        ],
        [facts.sandbox, run.isolation === undefined ? undefined : facts.sandboxes[run.isolation]],
        [facts.network, run.network === undefined ? undefined : facts.networks[run.network]],
        [facts.profile, run.profile === undefined ? undefined : <code key="profile">{run.profile}</code>],
        [words.rule, standing === undefined ? undefined : <Rules key="rules" standing={standing} />],
        [
          facts.planDigest,
          run.planDigest === undefined ? undefined : <code key="digest">{shortDigest(run.planDigest)}</code>
        ]
      ]}
    />
  )
}
