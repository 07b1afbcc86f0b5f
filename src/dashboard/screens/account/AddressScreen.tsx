import "../../app/Kit.ts"
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { addressSecret, forgetAddressSecret } from "../../api/AddressSecret.ts"
import { post } from "../../api/Client.ts"
import { bootstrapQuery } from "../../api/Queries.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { Page } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { profileWords } from "./ProfileWords.ts"

interface AddressChange {
  readonly from: string
  readonly to: string
}

const Change = ({ secret }: { readonly secret: string }) => {
  const words = useWords(profileWords)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const query = useQuery({
    queryKey: ["address-change"],
    queryFn: () => post<{ change: AddressChange }>("/auth/address/inspect", { secret }).then(({ change }) => change),
    retry: false
  })
  const change = useMutation({
    mutationFn: () => post("/auth/address", { secret }),
    onSuccess: async () => {
      forgetAddressSecret()
      toast(words.addressChanged)
      await queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
      await navigate({ to: "/account" })
    }
  })
  return (
    <Loadable query={query}>
      {({ from, to }) => (
        <div className="form">
          <p>{words.addressText(from, to)}</p>
          {change.error === null ? null : <FaultNotice error={change.error} />}
          <div className="form-actions">
            <Button tone="primary" busy={change.isPending} onClick={() => change.mutate()}>
              {words.addressAction}
            </Button>
          </div>
        </div>
      )}
    </Loadable>
  )
}

/** The page of a link that gives the account another address. */
export const AddressScreen = () => {
  const words = useWords(profileWords)
  const secret = addressSecret()
  return (
    <Page narrow title={words.addressTitle}>
      {secret === undefined ? (
        <Notice tone="warn" title={words.addressMissing}>
          <p>{words.addressMissingText}</p>
        </Notice>
      ) : (
        <Change secret={secret} />
      )}
    </Page>
  )
}
