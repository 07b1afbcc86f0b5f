import { useEffect, useState } from "react"
import type { SetupLinkState } from "../../../schema/records/AccountLink.ts"
import { request } from "../api/Client.ts"
import { Fault } from "../api/Fault.ts"
import { FaultNotice, Notice, Skeleton } from "../ui/Feedback.tsx"
import { Time } from "../ui/Time.tsx"
import { useWords } from "../words/Words.ts"
import { Frame } from "./Frame.tsx"
import { SetupForm } from "./SetupForm.tsx"
import { setupSecret } from "./SetupSecret.ts"
import { setupWords } from "./SetupWords.ts"

type Found =
  | { readonly kind: "checking" }
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "link"; readonly link: SetupLinkState }

const inspect = (secret: string, signal?: AbortSignal): Promise<Found> =>
  request<{ link: SetupLinkState }>("POST", "/auth/setup/link", {
    body: { secret },
    keepOn401: true,
    ...(signal === undefined ? {} : { signal })
  }).then(
    ({ link }) => ({ kind: "link", link }),
    (error: unknown) =>
      error instanceof Fault && error.status === 404 ? { kind: "unknown" } : { kind: "failed", error }
  )

/** The purpose of the link, and a function that requests the purpose again. */
const useSetupLink = (secret: string | undefined): readonly [found: Found, ask: () => void] => {
  const [found, setFound] = useState<Found>({ kind: "checking" })
  useEffect(() => {
    if (secret === undefined) return
    const gone = new AbortController()
    void inspect(secret, gone.signal).then((next) => (gone.signal.aborted ? undefined : setFound(next)))
    return () => gone.abort()
  }, [secret])
  return [found, () => (secret === undefined ? undefined : void inspect(secret).then(setFound))]
}

const NewFirst = () => {
  const words = useWords(setupWords)
  return (
    <p>
      {words.newFirst} <code>svc admin setup-link</code>
    </p>
  )
}

const NewRecovery = () => {
  const words = useWords(setupWords)
  return (
    <p>
      {words.newRecovery} <code>svc admin reset-password</code>
    </p>
  )
}

const Ended = ({ purpose, state }: Exclude<SetupLinkState, { readonly state: "live" }>) => {
  const words = useWords(setupWords)
  const isFirst = purpose === "first_account"
  if (state === "expired") {
    return (
      <Notice tone="warn" title={words.expired}>
        <p>{words.expiredText}</p>
        {isFirst ? <NewFirst /> : <NewRecovery />}
      </Notice>
    )
  }
  return (
    <>
      <Notice tone="warn" title={words.used[purpose]}>
        <p>{words.usedText[purpose]}</p>
        <NewRecovery />
      </Notice>
      <div className="signed-out-ways">
        <a className="button button-primary" href="/sign-in">
          {words.signIn}
        </a>
      </div>
    </>
  )
}

/** Shown if the link cannot be used because its secret is missing or unknown to the server. */
const Unusable = ({ reason }: { readonly reason: "incomplete" | "unknown" }) => {
  const words = useWords(setupWords)
  return (
    <Notice tone="warn" title={words[reason]}>
      <p>{words[`${reason}Text`]}</p>
      <NewFirst />
      <NewRecovery />
    </Notice>
  )
}

interface LinkProps {
  readonly secret: string
  readonly link: SetupLinkState
  readonly onEnded: () => void
}

const Link = ({ secret, link, onEnded }: LinkProps) => {
  const words = useWords(setupWords)
  const title = link.purpose === "recovery" ? words.recoverTitle : words.firstTitle
  if (link.state !== "live") {
    return (
      <Frame title={title} about={words.wasFor[link.purpose]}>
        <Ended {...link} />
      </Frame>
    )
  }
  return (
    <Frame title={title} about={link.purpose === "recovery" ? words.recoverAbout(link.email) : words.firstAbout}>
      <p className="signed-out-note">
        {words.until} <Time at={link.expiresAt} />
      </p>
      <SetupForm secret={secret} recovering={link.purpose === "recovery"} onEnded={onEnded} />
    </Frame>
  )
}

const Opened = () => {
  const words = useWords(setupWords)
  const [secret] = useState(() => setupSecret(window.location.hash))
  const [found, ask] = useSetupLink(secret)
  useEffect(() => {
    // Removes the secret from the address bar and the history as soon as it has been read.
    window.history.replaceState(null, "", window.location.pathname)
    // If a second link is opened in this tab, only the fragment changes, so the browser does not reload the page.
    const again = () => window.location.reload()
    window.addEventListener("hashchange", again)
    return () => window.removeEventListener("hashchange", again)
  }, [])
  if (secret !== undefined && found.kind === "link") return <Link secret={secret} link={found.link} onEnded={ask} />
  return (
    <Frame title={words.title} about={words.about}>
      {secret === undefined ? (
        <Unusable reason="incomplete" />
      ) : found.kind === "unknown" ? (
        <Unusable reason="unknown" />
      ) : found.kind === "failed" ? (
        <FaultNotice error={found.error} onRetry={ask} />
      ) : (
        <Skeleton height="block" rows={1} />
      )}
    </Frame>
  )
}

/**
 * The page that a setup link opens. The prerendered page is not for a specific link, and contains the form for browsers
 * without scripts.
 */
export const Setup = () => {
  const words = useWords(setupWords)
  if (typeof window !== "undefined") return <Opened />
  return (
    <Frame title={words.title} about={words.about}>
      <noscript>
        <SetupForm secret={undefined} recovering={false} />
      </noscript>
    </Frame>
  )
}
