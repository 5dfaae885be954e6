"""On PostgreSQL: pgvector where it is to be had, and a trigger that forgets neighbours of what goes.

The table of neighbours has the length of an embedder's vectors, so it is made with the first of them
(retrieval/index/nearest.py). Elsewhere this does nothing.
"""

from django.db import DatabaseError, migrations, transaction

FORWARDS = """
CREATE FUNCTION retrieval_nearest_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('retrieval_nearest') IS NOT NULL THEN
        IF TG_OP = 'TRUNCATE' THEN
            TRUNCATE retrieval_nearest;
        ELSE
            DELETE FROM retrieval_nearest near USING gone WHERE near.chunk_id = gone.chunk_id;
        END IF;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER retrieval_nearest_deleted AFTER DELETE ON retrieval_embedding
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION retrieval_nearest_forget();
CREATE TRIGGER retrieval_nearest_truncated AFTER TRUNCATE ON retrieval_embedding
    FOR EACH STATEMENT EXECUTE FUNCTION retrieval_nearest_forget();
"""
BACKWARDS = """
DROP FUNCTION IF EXISTS retrieval_nearest_forget() CASCADE;
DROP TABLE IF EXISTS retrieval_nearest;
"""


def forwards(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(connection.alias):
            schema_editor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except DatabaseError:
        pass  # search is exact without it; a check says how to get it
    schema_editor.execute(FORWARDS)


def backwards(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(BACKWARDS)


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0001_initial")]

    operations = [migrations.RunPython(forwards, backwards)]
