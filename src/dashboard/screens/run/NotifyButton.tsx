import { useState } from "react"
import { setPreferences } from "../../preferences/Preferences.ts"
import { usePreferences } from "../../preferences/UsePreferences.ts"
import { Button } from "../../ui/Button.tsx"
import { useWords } from "../../words/Words.ts"
import { noticeWords } from "./NoticeWords.ts"

/** Requests the browser's permission only after the person has asked for notifications here. */
export const NotifyButton = () => {
  const words = useWords(noticeWords)
  const { runNotices } = usePreferences()
  const [refused, setRefused] = useState(false)
  if (!("Notification" in window)) return null
  const isOn = runNotices && Notification.permission === "granted"
  const toggle = async () => {
    if (isOn) return setPreferences({ runNotices: false })
    const permission = await Notification.requestPermission()
    setRefused(permission !== "granted")
    setPreferences({ runNotices: permission === "granted" })
  }
  return (
    <>
      <Button aria-pressed={isOn} title={words.notifyHelp} onClick={() => void toggle()}>
        {words.notify}
      </Button>
      {refused ? <output className="muted">{words.refused}</output> : null}
    </>
  )
}
