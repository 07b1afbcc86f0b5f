import { describedGroups } from "./description/DescribedGroups.ts"
import { ServerApi } from "./ServerApi.ts"

/** Every route of the server with its words. Made when somebody asks for the description, to keep startup fast. */
export const describedApi = () => ServerApi.add(...describedGroups())
