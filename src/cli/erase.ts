import { type Call, type Command, PROJECT_OPTION, UsageMistake } from "./command.ts";
import { callApi, chosenProject, withConnection } from "./connection.ts";
import { counted, nounOf } from "../number_words.ts";

interface Reply {
  readonly erased: { readonly events: number; readonly identities: readonly string[] };
}

async function erase(call: Call): Promise<void> {
  const [id] = call.words;
  if (id === undefined) {
    throw new UsageMistake("Say who is meant: a user id, an anonymous id, or a visitor hash.");
  }
  if (!call.options.flag("yes")) {
    throw new UsageMistake(`This deletes all that is stored of ${id} for good: say --yes.`);
  }
  const { erased } = await withConnection(call, async (connection) => {
    const project = encodeURIComponent(await chosenProject(connection, call));
    const path = `/v1/actors/${encodeURIComponent(id)}?project=${project}`;
    return await callApi<Reply>(connection, "DELETE", path);
  });
  const { events, identities } = erased;
  call.print.result(
    { erased },
    () =>
      `Erased ${counted(events, "event")} and the ${nounOf(identities.length, "id")} ` +
      `${identities.join(", ")}.\n`,
  );
}

export const ERASE_COMMAND: Command = {
  name: "erase",
  summary: "Erase all that is stored of one person",
  usage: "footfall erase ID --yes [options]",
  notes: "ID is a user id, an anonymous id or a visitor hash; a user's anonymous ids go with it.",
  wordsMax: 1,
  options: {
    project: PROJECT_OPTION,
    yes: { type: "boolean", meaning: "really delete: there is no way back" },
  },
  example: "footfall erase user-42 --project prj_default --yes",
  run: erase,
};
