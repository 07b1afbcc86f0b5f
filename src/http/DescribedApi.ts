import { describedGroups } from "./description/DescribedGroups.ts"
import { ServerApi } from "./ServerApi.ts"

/** Every route of the server with its prose. Built when the description is requested, to keep startup fast. */
export const describedApi = () => ServerApi.add(...describedGroups())
