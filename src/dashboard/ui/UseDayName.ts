import { beginOfDay, dayOf } from "../words/Days.ts"
import { calendarDate } from "../words/Format.ts"
import { useLanguage } from "../words/Words.ts"
import { useNow } from "./Time.tsx"

const words = {
  en: { today: "Today", yesterday: "Yesterday" },
  ja: { today: "今日", yesterday: "昨日" }
}

/** Returns the name of a day in a list: "today" or "yesterday", or its date. */
export const useDayName = () => {
  const language = useLanguage()
  const today = dayOf(new Date(useNow(60_000)).toISOString())
  return (day: string): string => {
    const begin = beginOfDay(day) ?? day
    if (day === today) return words[language].today
    return begin === beginOfDay(today, -1) ? words[language].yesterday : calendarDate(language, begin)
  }
}
