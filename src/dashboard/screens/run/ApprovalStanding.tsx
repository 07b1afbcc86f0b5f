import type { RunApprovals } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { standingWords } from "./ApprovalStandingWords.ts"

/**
 * The given and missing approvals of a plan, and the reason why it waits. Renders nothing if no rule requires more than one
 * admin's approval.
 */
export const ApprovalStanding = ({ standing }: { readonly standing: RunApprovals }) => {
  const words = useWords(standingWords)
  const actorName = useActorName()
  if (standing.rules.length === 0) return null
  const nameOf = (approver: string) => (approver === "service" ? "svc" : actorName(approver))
  const { authors, own, rules } = standing
  const isAuthorExcluded = rules.some(({ rule }) => !rule.planAuthorCounts)
  const named = authors.map(({ part, subject }) => `${nameOf(subject)} (${words.authorParts[part]})`)
  return (
    <div className="stack" data-testid="approvals">
      <ul>
        {standing.rules.map(({ missing, rule, teamName }) => (
          <li key={rule.id}>
            {missing === 0
              ? words.met(rule.approvers, words.roles[rule.role], teamName)
              : words.missing(missing, words.roles[rule.role], teamName)}
          </li>
        ))}
        {standing.approvals.map(({ approver, comment, createdAt, problem }) => (
          <li key={approver}>
            {words.approved(nameOf(approver))} <Time at={createdAt} />
            {comment === undefined ? null : (
              <>
                {" "}
                <q>{comment}</q>
              </>
            )}
            {problem === undefined ? null : <strong> {words.notCounted(words.problems[problem])}</strong>}
          </li>
        ))}
      </ul>
      {isAuthorExcluded && named.length > 0 ? <p className="muted">{words.authors(named.join(", "))}</p> : null}
      {own.status === "given" && standing.state !== "approved" ? <p className="muted">{words.given}</p> : null}
      {own.problem === undefined ? null : <p className="muted">{words.yours(words.problems[own.problem])}</p>}
    </div>
  )
}
