import { useQuery } from "@tanstack/react-query"
import { type MouseEvent, useState } from "react"
import { get, request } from "../../api/Client.ts"
import { confirmIdentity } from "../../api/Confirmation.ts"
import { identitiesQuery } from "../../api/AccountQueries.ts"
import type { Confirmation, LinkedIdentity } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { signInWords } from "./SignInWords.ts"

const issuerHost = (issuer: string): string => (URL.canParse(issuer) ? new URL(issuer).host : issuer)

const IdentityRow = ({ identity }: { readonly identity: LinkedIdentity }) => {
  const words = useWords(signInWords)
  const [asking, setAsking] = useState(false)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong title={identity.issuer}>{issuerHost(identity.issuer)}</strong>
        <span className="muted">
          {words.linked} <Time at={identity.createdAt} /> · {words.used} <Time at={identity.lastUsedAt} />
        </span>
      </span>
      <span className="row-end">
        <Button small of={issuerHost(identity.issuer)} onClick={() => setAsking(true)}>
          {words.unlink}
        </Button>
      </span>
      {asking ? (
        <RemovalDialog
          title={words.unlinkTitle(issuerHost(identity.issuer))}
          action={words.unlink}
          remove={(signal) =>
            request("DELETE", `/auth/upstream/identities/${encodeURIComponent(identity.id)}`, { signal })
          }
          list={identitiesQuery.queryKey}
          onClose={() => setAsking(false)}
        >
          {words.unlinkText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

const linkStart = "/auth/upstream/start?link=true&return=%2Faccount"

/** A navigation cannot wait for the identity prompt, so the prompt is shown before the navigation. */
const startLinking = (event: MouseEvent): void => {
  event.preventDefault()
  const goOn = () => window.location.assign(linkStart)
  get<Confirmation>("/auth/confirmation")
    .then(({ confirmed }) => confirmed || confirmIdentity())
    // If linking fails, the page at that address shows the reason.
    .then((confirmed) => (confirmed ? goOn() : undefined), goOn)
}

/**
 * The person's identities at the server's sign-in provider. Linking an identity redirects to the provider and back, so the
 * page uses a normal link for it.
 */
export const Identities = () => {
  const words = useWords(signInWords)
  const query = useQuery(identitiesQuery)
  return (
    <Panel
      flush
      title={words.upstream}
      about={words.upstreamAbout}
      actions={
        <a className="button button-plain button-small" href={linkStart} onClick={startLinking}>
          <Icon name="plus" />
          {words.link}
        </a>
      }
    >
      <Loadable query={query}>
        {(identities) =>
          identities.length === 0 ? (
            <Empty icon="shield" title={words.upstreamNone}>
              <p>{words.upstreamNoneText}</p>
            </Empty>
          ) : (
            <ul className="rows">
              {identities.map((identity) => (
                <IdentityRow key={identity.id} identity={identity} />
              ))}
            </ul>
          )
        }
      </Loadable>
    </Panel>
  )
}
