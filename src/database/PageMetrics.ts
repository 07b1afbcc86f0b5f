import { Metric } from "effect"

export const damagedPages = Metric.gauge("svc_database_damaged_pages", {
  description: "Damaged pages that the last background check of the database found."
})
