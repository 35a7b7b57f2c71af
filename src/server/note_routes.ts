import { z } from "zod";
import {
  getNotes,
  NOTES_QUERY,
  NOTES_SEMANTICS,
  type NoteServices,
  patchNote,
  postNote,
  removeNote,
} from "../notes/note_endpoints.ts";
import { NoteChange, NoteCreation, NoteShown } from "../notes/notes.ts";
import { type DocumentedRoute, KNOWN } from "./documented_route.ts";
import type { ProblemCode } from "../problem.ts";
import { replyShown } from "../query/reply_shown.ts";

const READ_PROBLEMS: readonly ProblemCode[] = [
  "invalid_parameter",
  "project_required",
  "not_found",
];
const CHANGE_PROBLEMS: readonly ProblemCode[] = [
  "project_required",
  "not_found",
  "missing_api_key",
  "invalid_api_key",
  "revoked_api_key",
  "expired_api_key",
  "key_not_allowed_here",
  "rate_limited",
  "overloaded",
];
const QUERY = { project: NOTES_QUERY.project! };

/** Returns the routes of notes: events in the life of a site, shown on its charts. */
export function noteRoutes(services: NoteServices): DocumentedRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/notes",
      access: "read",
      handler: (exchange) => getNotes(services, exchange),
      doc: {
        summary: "Notes of the project, in the order of their times",
        query: NOTES_QUERY,
        semantics: NOTES_SEMANTICS,
        success: {
          status: 200,
          description: "Notes",
          also: KNOWN,
          schema: replyShown({ notes: z.array(NoteShown) }),
        },
        problems: READ_PROBLEMS,
      },
    },
    {
      method: "POST",
      path: "/v1/notes",
      access: "write or key",
      handler: (exchange) => postNote(services, exchange),
      doc: {
        summary: "Note what happened: with a token of scope `write`, or a secret API key",
        query: QUERY,
        body: NoteCreation,
        success: { status: 201, description: "The note", schema: NoteShown },
        problems: [...CHANGE_PROBLEMS, "conflict"],
      },
    },
    {
      method: "PATCH",
      path: "/v1/notes/:id",
      access: "write or key",
      handler: (exchange) => patchNote(services, exchange),
      doc: {
        summary: "Change a note; members left out stay",
        query: QUERY,
        body: NoteChange,
        success: { status: 200, description: "The note as it is now", schema: NoteShown },
        problems: CHANGE_PROBLEMS,
      },
    },
    {
      method: "DELETE",
      path: "/v1/notes/:id",
      access: "write or key",
      handler: (exchange) => removeNote(services, exchange),
      doc: {
        summary: "Delete a note",
        query: QUERY,
        success: { status: 204, description: "Deleted" },
        problems: CHANGE_PROBLEMS,
      },
    },
  ];
}
