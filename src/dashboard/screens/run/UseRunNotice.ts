import { useEffect, useRef } from "react"
import type { Run, RunEvent } from "../../api/Types.ts"
import { preferences } from "../../preferences/Preferences.ts"
import { useWords } from "../../words/Words.ts"
import { noticeWords } from "./NoticeWords.ts"
import { isPlan } from "../../../../schema/records/RunTransitions.ts"
import { progressOf } from "./Phases.ts"

/** The state of a Run, shown in the page title and icon for people who are looking at another tab. */
type NoticeState = "running" | "waiting" | "done" | "failed"

const states: Readonly<Record<Run["status"], NoticeState | undefined>> = {
  queued: "running",
  running: "running",
  waiting_approval: "waiting",
  succeeded: "done",
  failed: "failed",
  cancelled: undefined,
  superseded: undefined,
  expired: undefined
}

const noticeStateOf = ({ drifted, status, type }: Pick<Run, "drifted" | "status" | "type">) =>
  // The check succeeded, but its result needs attention.
  type === "drift_check" && drifted === true ? "waiting" : states[status]

/** Returns the number of resources that an apply has finished and the total number, or `undefined` before any progress. */
const doneOf = (run: Pick<Run, "type">, events: ReadonlyArray<RunEvent>, expected: number) => {
  const items = isPlan(run.type) ? [] : progressOf(events)
  if (items.length === 0) return undefined
  return { done: items.filter(({ state }) => state === "done").length, total: Math.max(expected, items.length) }
}

const signs: Readonly<Record<NoticeState, string>> = { running: "▸", waiting: "●", done: "✓", failed: "✕" }

// Each mark has a distinct shape, because colour alone is not sufficient.
const marks: Readonly<Record<NoticeState, string>> = {
  running:
    '<path d="M14 12.6v9.8l8.8-4.9z" fill="#9aa8ff" stroke="#121110" stroke-width="1.5" stroke-linejoin="round"/>',
  waiting: '<circle cx="18.5" cy="18.5" r="4.8" fill="#f0b64f" stroke="#121110" stroke-width="1.5"/>',
  done: '<path d="m13 18.5 3.6 3.6L22.6 15" fill="none" stroke="#121110" stroke-width="5"/><path d="m13 18.5 3.6 3.6L22.6 15" fill="none" stroke="#3ddc84" stroke-width="2.8"/>',
  failed:
    '<path d="m14.4 14.4 7.8 7.8m0-7.8-7.8 7.8" fill="none" stroke="#121110" stroke-width="5"/><path d="m14.4 14.4 7.8 7.8m0-7.8-7.8 7.8" fill="none" stroke="#ff6a5c" stroke-width="2.8"/>'
}

/** Draws a mark in the corner of the page's icon until the component is unmounted. */
const useIconMark = (state: NoticeState | undefined): void => {
  useEffect(() => {
    const link = document.querySelector<HTMLLinkElement>("link[rel=icon]")
    if (link === null || state === undefined) return
    const plain = link.href
    let isGone = false
    const draw = async () => {
      const icon = await (await fetch(plain)).text()
      if (!isGone)
        link.href = `data:image/svg+xml,${encodeURIComponent(icon.replace("</svg>", `${marks[state]}</svg>`))}`
    }
    // If the mark cannot be drawn, the page keeps its normal icon. The title still shows the state.
    draw().catch(() => {})
    return () => {
      isGone = true
      link.href = plain
    }
  }, [state])
}

const show = (text: string, tag: string): void => {
  try {
    new Notification(text, { tag }).addEventListener("click", () => window.focus())
  } catch {
    // Mobile browsers have the API but forbid its use. The title still shows the state.
  }
}

/**
 * Shows a desktop notification if the Run stops running while the page does not have the focus. The notification contains no
 * values.
 */
const useDesktopNotice = (run: Run, state: NoticeState | undefined, name: string): void => {
  const words = useWords(noticeWords)
  const before = useRef(state)
  useEffect(() => {
    const was = before.current
    before.current = state
    if (was !== "running" || state === undefined || state === "running") return
    if (!preferences().runNotices || document.hasFocus() || window.Notification?.permission !== "granted") return
    const text =
      state === "waiting" && run.status === "waiting_approval"
        ? words.needsApproval(name)
        : state === "failed"
          ? words.hasFailed(name)
          : words.ended(name)
    show(text, run.id)
  }, [run, state, name, words])
}

/** Updates the title, icon and notifications for the open Run. Returns the title. */
export const useRunNotice = (run: Run, events: ReadonlyArray<RunEvent>, expected: number, name: string): string => {
  const words = useWords(noticeWords)
  const state = noticeStateOf(run)
  useIconMark(state)
  useDesktopNotice(run, state, name)
  if (state === undefined) return name
  const progress = doneOf(run, events, expected)
  const isApply = run.type === "apply" || run.type === "destroy_apply"
  const text =
    state === "running" && progress !== undefined
      ? words.count(progress.done, progress.total)
      : state === "waiting" && run.drifted === true
        ? words.drifted
        : state === "done" && isApply
          ? words.applied
          : words[state]
  return `${signs[state]} ${text} · ${name}`
}
