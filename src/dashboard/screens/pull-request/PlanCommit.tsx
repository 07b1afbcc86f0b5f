import { useQueryClient } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { pullRequestsPlan } from "../../api/Endpoints.ts"
import { pullRequestQuery } from "../../api/PullRequestQueries.ts"
import type { PullRequest } from "../../api/Types.ts"
import { useDecision } from "../../ui/Decision.ts"
import { Notice } from "../../ui/Feedback.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { shortCommit } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { pullRequestWords } from "./Words.ts"

/**
 * Lets a person plan the commit that the page showed when the dialog opened. The server refuses the request if the head has
 * moved.
 */
export const PlanCommit = ({
  pullRequest,
  onClose
}: {
  readonly pullRequest: PullRequest
  readonly onClose: () => void
}) => {
  const words = useWords(pullRequestWords)
  const queryClient = useQueryClient()
  const { headCommit, id, review } = pullRequest
  const modules = review?.modules ?? []
  const running = modules.flatMap((module) =>
    module.runsCode.present.map(({ line, name, path }) => ({ key: `${module.path} ${name} ${path} ${line}`, name }))
  )
  const more = modules.reduce((sum, { runsCode }) => sum + runsCode.more, 0)
  const plan = useDecision({
    send: (signal) => call(pullRequestsPlan, { signal, params: { pullRequestId: id }, body: { commit: headCommit } }),
    onSuccess: onClose,
    onSettled: () => queryClient.invalidateQueries({ queryKey: pullRequestQuery(id).queryKey })
  })
  return (
    <FormDialog
      title={words.planTitle(shortCommit(headCommit))}
      action={words.plan}
      tone={running.length === 0 ? "primary" : "danger"}
      change={plan}
      onSubmit={() => plan.mutate()}
      onClose={onClose}
    >
      <p>{words.planText}</p>
      {running.length === 0 ? null : (
        <Notice tone="warn" title={words.planRuns}>
          <ul className="addresses">
            {running.map(({ key, name }) => (
              <li key={key}>
                <code>{name}</code>
              </li>
            ))}
            {more === 0 ? null : <li className="muted">{words.more(more)}</li>}
          </ul>
        </Notice>
      )}
    </FormDialog>
  )
}
