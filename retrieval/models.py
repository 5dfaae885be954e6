"""What is indexed: sites, their pages, the pages' chunks, and the search structures over them.

Below: django.db. Above: retrieval.ingest writes, retrieval.index reads and writes, the admin shows,
retrieval.handlers keep what RCP callers add and say.
"""

from __future__ import annotations

from django.db import models


class Site(models.Model):
    """Something that `manage.py sync` keeps indexed."""

    class Kind(models.TextChoices):
        SITE = "site", "site (crawl from a page)"
        SITEMAP = "sitemap", "sitemap.xml"
        URL = "url", "single page"
        FOLDER = "folder", "folder of files"
        DOCUMENTS = "documents", "documents that were added over RCP"

    class Outcome(models.TextChoices):
        NEVER = "never", "never synced"
        RUNNING = "running", "running"
        OK = "ok", "ok"
        FAILED = "failed", "failed"

    kind = models.CharField(max_length=16, choices=Kind.choices, default=Kind.SITE)
    location = models.CharField(
        max_length=2000, unique=True, help_text="URL, or path of a folder on the server."
    )
    base_url = models.CharField(
        max_length=2000, blank=True, help_text="Folder only: the URL under which it is published."
    )
    depth = models.PositiveIntegerField(
        null=True, blank=True, help_text="Links to follow from the start; empty: the default."
    )
    max_pages = models.PositiveIntegerField(null=True, blank=True)
    strip_suffix = models.BooleanField(
        default=False, help_text="Folder only: foo.md is published at foo/, index.md at its folder."
    )
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    last_sync_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_outcome = models.CharField(
        max_length=16, choices=Outcome.choices, default=Outcome.NEVER, editable=False
    )
    last_summary = models.JSONField(default=dict, blank=True, editable=False)
    # One sync at a time: who holds the site, and until when without a sign of life.
    lease = models.CharField(max_length=32, blank=True, editable=False)
    lease_holder = models.CharField(max_length=300, blank=True, editable=False)
    leased_until = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.location


class Page(models.Model):
    """One document under its canonical URL. Only pages with chunks are searchable.

    A page without chunks keeps in `note` why, so that the next sync can ask for it conditionally.
    """

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="pages")
    url = models.CharField(max_length=2000, unique=True)
    title = models.CharField(max_length=500)  # falls back to the URL
    site_name = models.CharField(max_length=300, null=True, blank=True)  # noqa: DJ001  (null: not declared)
    favicon_url = models.CharField(max_length=2000, null=True, blank=True)  # noqa: DJ001
    media_type = models.CharField(max_length=100, default="text/html")
    language = models.CharField(max_length=16, blank=True)  # BCP 47 primary subtag, "" unknown
    note = models.CharField(max_length=300, blank=True)  # why it has no chunks, "" where it has
    # Where it was fetched: differs from `url` where the document names another canonical address.
    fetched_url = models.CharField(max_length=2000)
    canonical_url = models.CharField(max_length=2000, blank=True)  # of a duplicate: the page kept
    linked_from = models.CharField(max_length=2000, blank=True)  # page that led the crawl here
    # Conditional requests and change detection.
    etag = models.CharField(max_length=500, blank=True)
    last_modified = models.CharField(max_length=100, blank=True)
    content_hash = models.CharField(max_length=64, blank=True)
    recipe = models.CharField(
        max_length=16, blank=True
    )  # of parser and chunker; a new one reads again
    links = models.JSONField(default=list, blank=True)  # followed when the page answers 304
    fetched_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.title


class Chunk(models.Model):
    """A passage of a page: what is retrieved, quoted and cited."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()  # in the page, from 0
    text = models.TextField()  # verbatim; blocks separated by "\n", cells of a row by "\t"
    section = models.JSONField(default=list)  # heading path, outermost first
    anchor = models.CharField(max_length=300, blank=True)  # id of the section's heading
    fragment_start = models.TextField(blank=True)  # "" where no fragment can work
    fragment_end = models.TextField(blank=True)
    word_count = models.PositiveIntegerField()
    # Of language, title, section and text: equal means that postings and vector still hold.
    content_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(fields=("page", "position"), name="chunk_page_position"),
        )

    def __str__(self) -> str:
        return f"{self.page_id}#{self.position}"


class Segment(models.Model):
    """A batch of chunks whose postings were written together; merged when there are many."""

    version = models.PositiveBigIntegerField()  # of the index when it was written
    chunk_count = models.PositiveIntegerField()
    chunk_ids = models.BinaryField()  # little-endian int64, ascending
    lengths = models.BinaryField()  # little-endian uint32, in words, parallel to chunk_ids
    dead = models.BinaryField(default=bytes)  # little-endian int64: those removed since
    languages = models.JSONField(default=dict)  # how many chunks of which language

    def __str__(self) -> str:
        return f"segment {self.pk}"


class Posting(models.Model):
    """Where a term occurs within one segment: packed parallel arrays."""

    segment = models.ForeignKey(Segment, on_delete=models.CASCADE, related_name="postings")
    term = models.CharField(max_length=64)
    places = models.BinaryField()  # little-endian uint32, ascending: where in segment.chunk_ids
    frequencies = models.BinaryField()  # little-endian uint16

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("term", "segment"), name="posting_term_segment"),
        )

    def __str__(self) -> str:
        return self.term


class Embedding(models.Model):
    """A chunk's dense vector. A chunk without a row waits for `fill_vectors`."""

    chunk = models.OneToOneField(
        Chunk, primary_key=True, on_delete=models.CASCADE, related_name="embedding"
    )
    vector = models.BinaryField()  # little-endian float32, unit length
    version = models.PositiveBigIntegerField(db_index=True)  # of the index when it was written

    def __str__(self) -> str:
        return f"embedding of {self.pk}"


class IndexState(models.Model):
    """One row (pk 1). `version` grows with every write, so that caches know when to reload."""

    version = models.PositiveBigIntegerField(default=0)
    embedder = models.CharField(max_length=200, blank=True)  # identity of what made the vectors
    dimension = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"version {self.version}"


class Document(models.Model):
    """What a caller added over RCP; its text is a page of the site of added documents."""

    page = models.OneToOneField(
        Page, primary_key=True, on_delete=models.CASCADE, related_name="document"
    )
    name = models.CharField(max_length=200, unique=True)  # the id that its caller knows it by
    # Where its text stands on the web; several documents may be parts of one page.
    url = models.CharField(max_length=2000, blank=True)
    meta = models.JSONField(default=dict)
    spans = models.JSONField(default=list)  # of each chunk in the text as given: [start, end]
    digest = models.CharField(max_length=64)  # of all that was given and how it is read

    class Meta:
        ordering = ("page",)

    def __str__(self) -> str:
        return self.name


class MetaField(models.Model):
    """A name in the `meta` of added documents that can be filtered on."""

    class Kind(models.TextChoices):
        KEYWORD = "keyword"
        INT = "int"
        FLOAT = "float"
        BOOL = "bool"
        DATE = "date"

    name = models.CharField(primary_key=True, max_length=100)
    kind = models.CharField(max_length=8, choices=Kind.choices)  # what all its values are

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}"


class MetaValue(models.Model):
    """One value of one name in one document's `meta`, in every form that it has."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="values")
    name = models.CharField(max_length=100)
    text = models.CharField(max_length=500)
    number = models.FloatField(null=True)
    moment = models.DateTimeField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=("name", "text"), name="metavalue_text"),
            models.Index(fields=("name", "number"), name="metavalue_number"),
            models.Index(fields=("name", "moment"), name="metavalue_moment"),
        )

    def __str__(self) -> str:
        return f"{self.name}={self.text}"


class Trajectory(models.Model):
    """What an RCP session has been shown, so that it is not shown again."""

    owner = models.CharField(max_length=200)  # whose session ids these are
    session = models.CharField(max_length=200)
    chunk_ids = models.JSONField(default=list)  # oldest first
    page_ids = models.JSONField(default=list)  # shown as whole documents
    used_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("owner", "session"), name="trajectory_session"),
        )

    def __str__(self) -> str:
        return self.session


class HitFeedback(models.Model):
    """What an RCP caller says of one hit; null where it says nothing."""

    hit = models.CharField(max_length=300, help_text="The hit's id, as it was returned.")
    chunk = models.ForeignKey(Chunk, null=True, on_delete=models.SET_NULL, related_name="feedback")
    query = models.TextField(blank=True)
    session = models.CharField(max_length=200, blank=True)
    owner = models.CharField(max_length=200)
    used = models.BooleanField(null=True)
    cited = models.BooleanField(null=True)
    helpful = models.BooleanField(null=True)
    reward = models.FloatField(null=True, help_text="-1 to 1")
    poison_suspected = models.BooleanField(null=True)
    injection_suspected = models.BooleanField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "hit feedback"

    def __str__(self) -> str:
        return f"feedback on {self.hit}"
