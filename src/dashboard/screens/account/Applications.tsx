import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { post } from "../../api/Client.ts"
import { Fault } from "../../api/Fault.ts"
import { grantsQuery } from "../../api/AccountQueries.ts"
import type { ApplicationGrant } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { TextWithCode } from "../../ui/TextWithCode.tsx"
import { Time } from "../../ui/Time.tsx"
import { useWords } from "../../words/Words.ts"
import { signInWords } from "./SignInWords.ts"

const GrantRow = ({ grant }: { readonly grant: ApplicationGrant }) => {
  const words = useWords(signInWords)
  const { workspaces } = useBootstrap()
  const [asking, setAsking] = useState(false)
  const workspace = workspaces.find(({ id }) => id === grant.workspaceId)?.displayName ?? grant.workspaceId
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong>{grant.clientName}</strong> {grant.offline ? <span className="tag">{words.offline}</span> : null}
        </span>
        <span className="muted">
          {grant.scopes.join(", ")}
          {workspace === undefined ? "" : ` · ${workspace}`} · {words.allowed} <Time at={grant.createdAt} />
        </span>
      </span>
      <span className="row-end">
        <Button small of={grant.clientName} onClick={() => setAsking(true)}>
          {words.withdraw}
        </Button>
      </span>
      {asking ? (
        <RemovalDialog
          title={words.withdrawTitle(grant.clientName)}
          action={words.withdraw}
          remove={(signal) => post(`/auth/grants/${encodeURIComponent(grant.id)}/revoke`, {}, { signal })}
          list={grantsQuery.queryKey}
          onClose={() => setAsking(false)}
        >
          {words.withdrawText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

/** Lists the applications that may act for the person. */
export const Applications = () => {
  const words = useWords(signInWords)
  const query = useQuery(grantsQuery)
  // If the server has no issuer, this route does not exist, so the page omits the list.
  if (query.error instanceof Fault && query.error.status === 404) return null
  return (
    <Panel flush title={words.applications} about={words.applicationsAbout}>
      <Loadable query={query}>
        {(grants) =>
          grants.length === 0 ? (
            <Empty icon="external" title={words.applicationsNone}>
              <p>
                <TextWithCode text={words.applicationsNoneText} />
              </p>
            </Empty>
          ) : (
            <ul className="rows">
              {grants.map((grant) => (
                <GrantRow key={grant.id} grant={grant} />
              ))}
            </ul>
          )
        }
      </Loadable>
    </Panel>
  )
}
