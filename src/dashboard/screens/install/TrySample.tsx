import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { advance, call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { installPlansCreate, installPlansReconcile } from "../../api/Endpoints.ts"
import { capsulesQuery } from "../../api/Queries.ts"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { useWords } from "../../words/Words.ts"

const en = {
  try: "Try it without a repository",
  tryText: "A sample module that is built into this server. It creates nothing outside its own state.",
  failed: "The sample could not be planned"
}

const ja: typeof en = {
  try: "リポジトリなしで試す",
  tryText: "このサーバーに内蔵されたサンプルモジュールです。自身のステート以外には何も作成しません。",
  failed: "サンプルをプランできませんでした"
}

export const sampleWords = { en, ja }

const environment = "production"

/** The first name in the series `hello`, `hello-2` and so on that no Capsule in the environment has. */
const freeName = (taken: ReadonlySet<string>): string => {
  let number = 1
  const name = () => (number === 1 ? "hello" : `hello-${number}`)
  while (taken.has(name())) number += 1
  return name()
}

/** Plans the sample module that is built into the server, and opens the plan. */
export const TrySample = () => {
  const words = useWords(sampleWords)
  const { sampleRepository } = useBootstrap()
  const workspace = useWorkspace()
  const may = useMay()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [key] = useState(newIdempotencyKey)
  const plan = useDecision({
    send: async (signal, url: string) => {
      const capsules = await queryClient.ensureQueryData(capsulesQuery(workspace.id))
      const taken = capsules.filter((each) => each.environment === environment).map(({ name }) => name)
      const name = freeName(new Set(taken))
      const { installPlan } = await call(installPlansCreate, {
        signal,
        params: { workspaceId: workspace.id },
        idempotencyKey: `${key}-${name}`,
        body: { source: { name: "sample", url, ref: "main" }, capsule: { name, environment }, variables: {} }
      })
      return advance(installPlan, (id) =>
        call(installPlansReconcile, { signal, params: { installPlanId: id } }).then((answer) => answer.installPlan)
      )
    },
    onSuccess: ({ planRunId }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      if (planRunId !== undefined)
        void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: planRunId } })
    }
  })
  if (sampleRepository === undefined || !may("member")) return null
  const failed = plan.data?.planRunId === undefined ? plan.data : undefined
  return (
    <div className="stack">
      <div>
        <Button icon="run" busy={plan.isPending} onClick={() => plan.mutate(sampleRepository)}>
          {words.try}
        </Button>
      </div>
      <p className="muted">{words.tryText}</p>
      {failed === undefined ? null : (
        <Notice tone="bad" title={words.failed}>
          {failed.diagnostics.map(({ message }) => (
            <p key={message}>{message}</p>
          ))}
        </Notice>
      )}
      {plan.error === null ? null : <FaultNotice error={plan.error} />}
    </div>
  )
}
