import "../../app/Kit.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import type { AddressLinkState } from "../../../../schema/records/AccountLink.ts"
import { addressSecret, forgetAddressSecret } from "../../api/AddressSecret.ts"
import { post } from "../../api/Client.ts"
import { Fault } from "../../api/Fault.ts"
import { bootstrapQuery } from "../../api/Queries.ts"
import { Button, LinkButton } from "../../ui/Button.tsx"
import { FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { Page } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { profileWords } from "./ProfileWords.ts"
import { useDecision } from "../../ui/Decision.ts"

const key = ["address-change"]

const isUnknown = (error: unknown) => error instanceof Fault && error.status === 404

const Unusable = ({ reason }: { readonly reason: keyof (typeof profileWords)["en"]["addressEnded"] }) => {
  const words = useWords(profileWords)
  const { text, title } = words.addressEnded[reason]
  return (
    <>
      <Notice tone="warn" title={title}>
        <p>{text}</p>
      </Notice>
      <LinkButton to="/account">{words.addressBack}</LinkButton>
    </>
  )
}

interface ChangeProps extends Extract<AddressLinkState, { readonly state: "live" }> {
  readonly secret: string
}

const Change = ({ secret, from, to, expiresAt }: ChangeProps) => {
  const words = useWords(profileWords)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const change = useDecision({
    send: (signal) => post("/auth/address", { secret }, { signal }),
    onSuccess: async () => {
      forgetAddressSecret()
      toast(words.addressChanged)
      await queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
      await navigate({ to: "/account" })
    },
    // The link became invalid after the page had shown the change that it would make.
    onError: (error) => (isUnknown(error) ? queryClient.invalidateQueries({ queryKey: key }) : undefined)
  })
  return (
    <div className="form">
      <p>{words.addressText(from, to)}</p>
      <p className="muted">
        {words.addressUntil} <Time at={expiresAt} />
      </p>
      {change.error === null ? null : <FaultNotice error={change.error} />}
      <div className="form-actions">
        <Button tone="primary" busy={change.isPending} onClick={() => change.mutate()}>
          {words.addressAction}
        </Button>
      </div>
    </div>
  )
}

const Link = ({ secret }: { readonly secret: string }) => {
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) =>
      post<{ change: AddressLinkState }>("/auth/address/inspect", { secret }, { signal }).then(
        ({ change }) => change,
        (error: unknown) => {
          if (isUnknown(error)) return { state: "unknown" } as const
          throw error
        }
      ),
    retry: false
  })
  return (
    <Loadable query={query}>
      {(link) => (link.state === "live" ? <Change secret={secret} {...link} /> : <Unusable reason={link.state} />)}
    </Loadable>
  )
}

/** The page that opens from a link that changes the account's address. */
export const AddressScreen = () => {
  const words = useWords(profileWords)
  const secret = addressSecret()
  return (
    <Page narrow title={words.addressTitle}>
      {secret === undefined ? <Unusable reason="missing" /> : <Link secret={secret} />}
    </Page>
  )
}
