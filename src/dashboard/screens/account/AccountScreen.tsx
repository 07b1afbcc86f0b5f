import { useQuery, useQueryClient } from "@tanstack/react-query"
import { type MouseEvent, useState } from "react"
import { shortestPassword } from "../../../../schema/records/Password.ts"
import {
  confirmationQuery,
  grantsQuery,
  identitiesQuery,
  noticesQuery,
  sessionsQuery
} from "../../api/AccountQueries.ts"
import { call } from "../../api/Call.ts"
import { get, post, request } from "../../api/Client.ts"
import { confirmIdentity } from "../../api/Confirmation.ts"
import { noticesChooseMails } from "../../api/Endpoints.ts"
import { Fault } from "../../api/Fault.ts"
import { noticeMailsQuery } from "../../api/NoticeQueries.ts"
import { bootstrapQuery } from "../../api/Queries.ts"
import type { AccountNotice, ApplicationGrant, Confirmation, LinkedIdentity, NoticeKind } from "../../api/Types.ts"
import "../../app/Kit.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap } from "../../app/Workspace.ts"
import { appWords } from "../../app/Words.ts"
import { setPreferences } from "../../preferences/Preferences.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Empty, FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { TextWithCode } from "../../ui/TextWithCode.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useWords } from "../../words/Words.ts"
import { NoticeKindFields } from "../workspace/NoticeKindFields.tsx"
import { noticeWords } from "../workspace/NoticeWords.ts"
import { Passkeys } from "./Passkeys.tsx"
import { Profile } from "./Profile.tsx"
import { profileWords } from "./ProfileWords.ts"
import { SecondFactor } from "./SecondFactor.tsx"
import { Sessions } from "./Sessions.tsx"
import { signInWords } from "./SignInWords.ts"
import { Tokens } from "./Tokens.tsx"
import { accountWords } from "./Words.ts"

const isTheme = (value: string): value is "system" | "light" | "dark" =>
  value === "system" || value === "light" || value === "dark"

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
const Applications = () => {
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

const PasswordDialog = ({ title, onClose }: { readonly title: string; readonly onClose: () => void }) => {
  const words = useWords(accountWords)
  const queryClient = useQueryClient()
  const [newPassword, setNew] = useState("")
  const change = useDecision({
    send: (signal) => post("/auth/password", { newPassword }, { signal }),
    onSuccess: () => {
      onClose()
      toast(words.passwordChanged)
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: confirmationQuery.queryKey })
    }
  })
  return (
    <FormDialog title={title} action={title} change={change} onSubmit={() => change.mutate()} onClose={onClose}>
      <TextField
        label={words.newPassword}
        helper={words.newPasswordHelp}
        type="password"
        autoComplete="new-password"
        required
        minLength={shortestPassword}
        value={newPassword}
        onChange={(event) => setNew(event.target.value)}
      />
    </FormDialog>
  )
}

const ChangePassword = () => {
  const words = useWords(accountWords)
  const profile = useWords(profileWords)
  const [changing, setChanging] = useState(false)
  // A person who signs in only with a passkey has no current password.
  const isFirst = useQuery(confirmationQuery).data?.password === false
  const title = isFirst ? profile.setPassword : words.changePassword
  return (
    <Panel
      title={words.password}
      actions={
        <Button small onClick={() => setChanging(true)}>
          {title}
        </Button>
      }
    >
      <p className="muted">{isFirst ? profile.setPasswordAbout : words.passwordAbout}</p>
      {changing ? <PasswordDialog title={title} onClose={() => setChanging(false)} /> : null}
    </Panel>
  )
}

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
const Identities = () => {
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

/** Selects the kinds of notices that the person receives by email. Each switch is saved immediately. */
const NoticeMails = () => {
  const words = useWords(noticeWords)
  const queryClient = useQueryClient()
  const { data } = useQuery(noticeMailsQuery)
  const choose = useDecision({
    send: (signal, kinds: ReadonlyArray<NoticeKind>) => call(noticesChooseMails, { signal, body: { kinds } }),
    onSuccess: ({ noticeMails }) => {
      queryClient.setQueryData(noticeMailsQuery.queryKey, noticeMails)
      toast(words.mailsSaved)
    }
  })
  if (data === undefined) return null
  const chosen = choose.isPending ? (choose.variables ?? data.kinds) : data.kinds
  return (
    <Panel title={words.title} about={words.mailsAbout}>
      {data.sendsMail ? null : <Notice tone="info">{words.mailsOff}</Notice>}
      {choose.error === null ? null : <FaultNotice error={choose.error} />}
      <div className="form">
        <NoticeKindFields
          legend={words.mails}
          busy={choose.isPending}
          chosen={chosen}
          onChange={(kinds) => choose.mutate(kinds)}
        />
      </div>
    </Panel>
  )
}

const AccountChanges = ({
  notices,
  newest
}: {
  readonly notices: ReadonlyArray<AccountNotice>
  readonly newest: string
}) => {
  const words = useWords(profileWords)
  const queryClient = useQueryClient()
  const see = useDecision({
    send: (signal) => post("/auth/notices/seen", { noticeId: newest }, { signal }),
    onSuccess: () =>
      Promise.all([
        queryClient.invalidateQueries({ queryKey: noticesQuery.queryKey }),
        queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
      ])
  })
  return (
    <Notice tone="warn" title={words.noticesTitle}>
      <ul>
        {notices.map(({ id, kind, detail, createdAt }) => (
          <li key={id}>
            {words.notices[kind](detail ?? "")} <Time at={createdAt} />
          </li>
        ))}
      </ul>
      <p>{words.noticesText}</p>
      {see.error === null ? null : <FaultNotice error={see.error} />}
      <Button small busy={see.isPending} onClick={() => see.mutate()}>
        {words.noticesSeen}
      </Button>
    </Notice>
  )
}

/** Changes to the account. They are shown until the owner acknowledges them. */
const Notices = () => {
  const { data = [] } = useQuery(noticesQuery)
  const [newest] = data
  return newest === undefined ? null : <AccountChanges notices={data} newest={newest.id} />
}

export const AccountScreen = () => {
  const words = useWords(accountWords)
  const app = useWords(appWords)
  const { capabilities, version } = useBootstrap()
  const { theme, language, letterKeys } = usePreferences()
  return (
    <Page title={words.title}>
      <Notices />
      <Profile />
      <Passkeys />
      {capabilities.auth.oidc ? <Identities /> : null}
      {capabilities.auth.password ? (
        <>
          <ChangePassword />
          <SecondFactor />
        </>
      ) : null}
      <Sessions />
      <Applications />
      <Tokens />
      <NoticeMails />
      <Panel title={words.appearance}>
        <div className="form">
          <div className="form-pair">
            <SelectField
              label={words.theme}
              value={theme}
              onChange={(event) =>
                isTheme(event.target.value) ? setPreferences({ theme: event.target.value }) : undefined
              }
            >
              <option value="system">{words.themes.system}</option>
              <option value="light">{words.themes.light}</option>
              <option value="dark">{words.themes.dark}</option>
            </SelectField>
            <SelectField
              label={words.language}
              value={language}
              onChange={(event) => setPreferences({ language: event.target.value === "ja" ? "ja" : "en" })}
            >
              <option value="en">English</option>
              <option value="ja">日本語</option>
            </SelectField>
          </div>
          <CheckField
            label={words.letterKeys}
            helper={words.letterKeysHelp}
            checked={letterKeys}
            onChange={(event) => setPreferences({ letterKeys: event.target.checked })}
          />
        </div>
      </Panel>
      <p className="muted version">{app.version(version)}</p>
    </Page>
  )
}
