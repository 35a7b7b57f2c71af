import { arrayLiteral, isOneOf, type Sql } from "../db/sql.ts";

/** Deletes the rows of a project's table that have one of these numbers in the column `number`. */
export async function deleteNumbered(
  tx: Sql,
  projectId: number,
  table: string,
  number: string,
  numbers: readonly number[],
): Promise<void> {
  if (numbers.length === 0) return;
  await tx.query(
    `DELETE FROM ${table} WHERE project_id = (SELECT $1::int) AND ${
      isOneOf(number, "$2::text::int[]")
    }`,
    [projectId, arrayLiteral(numbers)],
  );
}
