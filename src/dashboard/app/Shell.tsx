import { useQueryClient } from "@tanstack/react-query"
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router"
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react"
import { useConfirmationWanted } from "../api/Confirmation.ts"
import { isReachable, probe, subscribeReachability, useReachable, whenReachable } from "../api/Reachability.ts"
import type { Workspace } from "../api/Types.ts"
import { usePreferences } from "../preferences/UsePreferences.ts"
import { Dialog } from "../ui/Dialog.tsx"
import { Notice, Skeleton } from "../ui/Feedback.tsx"
import { Button, IconButton } from "../ui/Button.tsx"
import { Icon } from "../ui/Icon.tsx"
import { Brand } from "../ui/Mark.tsx"
import { TextWithCode } from "../ui/TextWithCode.tsx"
import { Toasts } from "../ui/Toast.tsx"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { AccountMenu } from "./AccountMenu.tsx"
import { navigation } from "./Navigation.ts"
import { Palette, preloadPalette } from "./Palette.tsx"
import { type GoTarget, useShortcuts } from "./Shortcuts.ts"
import { ShortcutHelp } from "./ShortcutHelp.tsx"
import { WorkspaceMenu } from "./WorkspaceMenu.tsx"
import { appWords } from "./Words.ts"
import { useBootstrap, useOptionalWorkspace } from "./Workspace.ts"

const SideBar = ({
  workspace,
  onPalette,
  onHelp
}: {
  readonly workspace: Workspace | undefined
  readonly onPalette: () => void
  readonly onHelp: () => void
}) => {
  const words = useWords(appWords)
  const terms = useWords(vocabulary)
  return (
    <div className="side">
      <Link to="/" className="brand">
        <Brand />
      </Link>
      <WorkspaceMenu workspace={workspace} />
      <button
        type="button"
        className="side-search"
        onClick={onPalette}
        onFocus={preloadPalette}
        onPointerEnter={preloadPalette}
      >
        <Icon name="search" />
        <span>{terms.search}</span>
        <kbd>{/Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl"} K</kbd>
      </button>
      <nav aria-label={words.navigation}>
        {workspace === undefined ? null : (
          <ul className="side-nav">
            {navigation.map((item) => (
              <li key={item.to}>
                <Link
                  to={item.to}
                  params={{ workspace: workspace.handle }}
                  activeOptions={{ exact: item.word === "home", includeSearch: false }}
                  className="side-link"
                >
                  <Icon name={item.icon} />
                  {words[item.word]}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </nav>
      <div className="side-foot">
        <Link to="/new" className="button side-install">
          <Icon name="plus" />
          {words.install}
          {usePreferences().letterKeys ? <kbd aria-hidden="true">N</kbd> : null}
        </Link>
        <AccountMenu onHelp={onHelp} />
      </div>
    </div>
  )
}

// This component is loaded on demand, because it is rarely needed and never before the server has responded.
const ConfirmIdentity = lazy(
  whenReachable(async () => ({ default: (await import("./ConfirmIdentity.tsx")).ConfirmIdentity }))
)

const Confirmation = () =>
  useConfirmationWanted() ? (
    <Suspense fallback={null}>
      <ConfirmIdentity />
    </Suspense>
  ) : null

/**
 * Opening another page can remove the focused element. In this case, the focus moves to the new page, not to the start of
 * the document.
 */
const usePageFocus = () => {
  const path = useRouterState({ select: (state) => state.resolvedLocation?.pathname })
  const shown = useRef(path)
  useEffect(() => {
    const isAnother = shown.current !== undefined && shown.current !== path
    shown.current = path
    if (isAnother && document.activeElement === document.body)
      document.getElementById("content")?.focus({ preventScroll: true })
  }, [path])
}

/**
 * A notice that is shown while the server does not respond. It explains what happens to clicks in the meantime, and
 * refreshes the page when the server responds again.
 */
const ConnectionNotice = () => {
  const words = useWords(appWords)
  const queryClient = useQueryClient()
  const reachable = useReachable()
  const isWaiting = useRouterState({ select: ({ status }) => status === "pending" })
  useEffect(
    () =>
      subscribeReachability(() => {
        if (isReachable())
          void queryClient.refetchQueries({ type: "active", predicate: ({ state }) => state.status === "error" })
      }),
    [queryClient]
  )
  return (
    <output className="connection-place">
      {reachable ? null : (
        <span className="connection-lost">
          <Icon name="warning" />
          <span>
            <strong>{words.unreachable}</strong> {isWaiting ? words.unreachableClick : words.unreachableStays}
          </span>
          <Button small onClick={() => void probe()}>
            {words.unreachableRetry}
          </Button>
        </span>
      )}
    </output>
  )
}

export const Shell = () => {
  const words = useWords(appWords)
  const terms = useWords(vocabulary)
  const workspace = useOptionalWorkspace()
  const { notices = [] } = useBootstrap()
  const navigate = useNavigate()
  const path = useRouterState({ select: (state) => state.location.pathname })
  // The navigation is open only on the page on which it was opened, so it closes when the person opens another page.
  const [open, setOpen] = useState<"palette" | "help" | `navigation ${string}` | undefined>(undefined)
  const handle = workspace?.handle
  const actions = useMemo(
    () => ({
      beforePalette: preloadPalette,
      palette: () => setOpen((current) => (current === "palette" ? undefined : "palette")),
      help: () => setOpen("help"),
      install: () => void navigate({ to: "/new" }),
      go: (target: GoTarget) => {
        const to = navigation.find((item) => item.word === target)?.to
        if (to !== undefined && handle !== undefined) void navigate({ to, params: { workspace: handle } })
      }
    }),
    [navigate, handle]
  )
  useShortcuts(actions)
  usePageFocus()
  const side = <SideBar workspace={workspace} onPalette={actions.palette} onHelp={actions.help} />
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {terms.skipToContent}
      </a>
      <header className="bar">
        <IconButton icon="menu" label={words.openNavigation} onClick={() => setOpen(`navigation ${path}`)} />
        <Link to="/" className="brand">
          <Brand name={workspace?.displayName ?? terms.product} />
        </Link>
        <IconButton icon="search" label={words.palette} onClick={actions.palette} />
      </header>
      <aside className="shell-side">{side}</aside>
      <main className="shell-main" id="content" tabIndex={-1}>
        {window.isSecureContext ? null : (
          <Notice tone="bad" title={words.plainHttpTitle}>
            <p>{words.plainHttpText}</p>
          </Notice>
        )}
        {notices.includes("restore_review") ? (
          <Notice tone="warn" title={words.restoreReview}>
            <p>
              <TextWithCode text={words.restoreReviewText} />
            </p>
          </Notice>
        ) : null}
        {notices.includes("account_changed") && path !== "/account" ? (
          <Notice tone="warn" title={words.accountChanged}>
            <p>
              <Link to="/account">{words.accountChangedLook}</Link>
            </p>
          </Notice>
        ) : null}
        {notices.includes("backup_failed") ? (
          <Notice tone="bad" title={words.backupFailed.title}>
            <p>{words.backupFailed.text}</p>
          </Notice>
        ) : null}
        {notices.includes("database_damaged") ? (
          <Notice tone="bad" title={words.databaseDamaged.title}>
            <p>{words.databaseDamaged.text}</p>
          </Notice>
        ) : null}
        {notices.includes("key_beside_data") ? (
          <Notice tone="warn" title={words.keyBesideData.title}>
            <p>{words.keyBesideData.text}</p>
          </Notice>
        ) : null}
        {notices.includes("runs_refused") ? (
          <Notice tone="bad" title={words.runsRefused.title}>
            <p>{words.runsRefused.text}</p>
          </Notice>
        ) : null}
        {notices.includes("isolation_off") ? (
          <Notice tone="bad" title={words.isolationOff.title}>
            <p>{words.isolationOff.text}</p>
          </Notice>
        ) : null}
        <Suspense
          fallback={
            <div className="page">
              <Skeleton rows={5} />
            </div>
          }
        >
          <Outlet />
        </Suspense>
      </main>
      <Confirmation />
      {open === `navigation ${path}` ? (
        <Dialog kind="side" title={terms.product} onClose={() => setOpen(undefined)}>
          {side}
        </Dialog>
      ) : null}
      {open === "palette" && workspace !== undefined ? (
        <Palette workspace={workspace} onClose={() => setOpen(undefined)} />
      ) : null}
      {open === "help" ? <ShortcutHelp onClose={() => setOpen(undefined)} /> : null}
      <ConnectionNotice />
      <Toasts />
    </div>
  )
}
