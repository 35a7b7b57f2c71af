/// <reference lib="dom" />
import { viewParam } from "../location_state.ts";
import { PeopleList } from "./people_list.tsx";
import { PersonPage } from "./people_person.tsx";

/** People, or all about one of them. */
export function PeopleView() {
  const id = viewParam("person");
  return id === null ? <PeopleList /> : <PersonPage key={id} id={id} />;
}
