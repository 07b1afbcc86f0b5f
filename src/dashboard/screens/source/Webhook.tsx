import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { sourcesRenewHookSecret } from "../../api/Endpoints.ts"
import { sourceQuery } from "../../api/Queries.ts"
import type { Source } from "../../api/Types.ts"
import { useMay } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { CopyText } from "../../ui/CopyText.tsx"
import { Facts, Panel } from "../../ui/Layout.tsx"
import { TextWithCode } from "../../ui/TextWithCode.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { sourceWords } from "../sources/Words.ts"
import { useDecision } from "../../ui/Decision.ts"
import { signingTokenOf } from "../../../../schema/records/SigningToken.ts"
import { ForgeSteps } from "./ForgeSteps.tsx"

/** Asks for confirmation, renews the secret, and shows the new secret once. */
const RenewSecret = ({ source, onClose }: { readonly source: Source; readonly onClose: () => void }) => {
  const words = useWords(sourceWords)
  const queryClient = useQueryClient()
  const renew = useDecision({
    // The version is a guard, so that neither a second click nor another person invalidates this secret.
    send: async (signal) => {
      const answer = await call(sourcesRenewHookSecret, {
        signal,
        params: { sourceId: source.id },
        body: { hookSecretVersion: source.hookSecretVersion }
      })
      // Only a repeated request with the same key gets a response without the secret, and this page never repeats the
      // request.
      const secret = "hookSecret" in answer ? answer.hookSecret : undefined
      if (typeof secret !== "string") throw new Error("The response to a renewal contains no secret.")
      return secret
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: sourceQuery(source.id).queryKey })
  })
  if (renew.data === undefined)
    return (
      <ConfirmDialog
        title={words.renewTitle}
        action={words.renew}
        change={renew}
        onConfirm={() => renew.mutate()}
        onClose={onClose}
      >
        <TextWithCode text={words.renewText} />
      </ConfirmDialog>
    )
  return (
    <SecretOnce
      title={words.renewedTitle}
      text={words.secretText}
      secret={renew.data}
      done={words.done}
      onClose={onClose}
    >
      <p>{words.signingToken}</p>
      <div className="secret-once">
        <CopyText text={signingTokenOf(renew.data)} />
      </div>
    </SecretOnce>
  )
}

const verdictTones: Readonly<Record<NonNullable<Source["lastDelivery"]>["verdict"], StatusTone>> = {
  accepted: "good",
  ping: "good",
  repeated: "neutral",
  not_following: "attention",
  unproven: "bad",
  failed: "bad"
}

/** The result of the last delivery, described for the person who set up the webhook. */
const LastDelivery = ({ source: { lastDelivery } }: { readonly source: Source }) => {
  const words = useWords(sourceWords)
  if (lastDelivery === undefined) return <span className="muted">{words.noDelivery}</span>
  const { at, runCount, verdict } = lastDelivery
  return (
    <div>
      <Status tone={verdictTones[verdict]}>{words.verdicts[verdict]}</Status> <Time at={at} />
      <p className="muted">{words.verdictText[verdict](runCount)}</p>
    </div>
  )
}

export const Webhook = ({ source }: { readonly source: Source }) => {
  const words = useWords(sourceWords)
  const may = useMay()
  const [renewing, setRenewing] = useState(false)
  return (
    <Panel
      title={words.webhook}
      about={words.webhookAbout}
      actions={
        may("member") ? (
          <Button small onClick={() => setRenewing(true)}>
            {words.renewStart}
          </Button>
        ) : null
      }
    >
      <Facts
        items={[
          [words.webhookUrl, <CopyText key="url" text={`${window.location.origin}/hooks/sources/${source.id}`} />],
          [words.webhookType, <code key="type">application/json</code>],
          [
            words.webhookSecret,
            <div key="secret">
              {source.hookSecretVersion === 1 ? words.webhookSecretFirst : words.webhookSecretRenewed}{" "}
              <Time at={source.hookSecretCreatedAt} />
              <p className="muted">{words.webhookSecretOnce}</p>
            </div>
          ],
          [words.lastDelivery, <LastDelivery key="delivery" source={source} />]
        ]}
      />
      {source.autoSync ? null : <p>{words.webhookSilent}</p>}
      <ForgeSteps sourceUrl={source.url} />
      {renewing ? <RenewSecret source={source} onClose={() => setRenewing(false)} /> : null}
    </Panel>
  )
}
