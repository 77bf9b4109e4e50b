"""Load the Java kernel into a session, and call it.

The jar is part of the package. ADD JAR loads it into a running session. A thread that calls it must use the session's
class loader, which is not the default of the thread. Only this module does either.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import as_file, files
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import StructType

from transom.model.time import Calendar
from transom.spark.event_time import TickTime
from transom.spark.session import PROVIDER, has_rocksdb
from transom.spark.stateful.plan_labels import label_machine
from transom.spark.stateful.runner import MachineShape

JAR = "transom-kernel.jar"
PACKAGE = "transom.kernel"
KERNEL_CLOCK = f"{PACKAGE}.spark.ClockSource"
"""The kernel's streaming source of ticks, as Spark names it."""
VERSION = 3


def has_jvm(spark: SparkSession) -> bool:
    """Whether Python can access the JVM of a session, which is not possible with Spark Connect."""
    return getattr(spark, "_jvm", None) is not None


def load_kernel(spark: SparkSession) -> str | None:
    """Load the jar of the Java kernel into a session; return None on success, otherwise the reason why not."""
    if not has_jvm(spark):
        return "a Spark Connect session has no JVM of its own"
    if not has_rocksdb(spark):
        return f"the session does not keep its state in RocksDB ({PROVIDER})"
    try:
        version = kernel_package(spark).Kernel.VERSION
        if not isinstance(version, int):
            resource = files("transom").joinpath(JAR)
            if not resource.is_file():
                return f"the package lacks {JAR}"
            with as_file(resource) as jar:
                spark.sql(f"ADD JAR '{jar.as_posix()}'")
            version = kernel_package(spark).Kernel.VERSION
    except Exception as error:  # on any error the portable Python path still works
        return f"the session refuses the jar: {str(error).splitlines()[0][:200]}"
    return None if version == VERSION else f"the session has version {version} of the kernel, not {VERSION}"


def is_loaded(spark: SparkSession) -> bool:
    """Whether a session has loaded the jar of the Java kernel, in the version of this package."""
    return has_jvm(spark) and kernel_package(spark).Kernel.VERSION == VERSION


def load_clock(spark: SparkSession, setting: str) -> DataFrame:
    """Load a streaming DataFrame of ticks from the Java kernel's clock source; `setting` configures it in JSON."""
    kernel_package(spark)
    return spark.readStream.format(KERNEL_CLOCK).option("setting", setting).load()


def run_in_kernel(
    frame: DataFrame,
    specification: str,
    calendar: Calendar,
    shape: MachineShape,
    *,
    group_columns: Sequence[str],
    output_type: StructType,
    live: bool,
) -> DataFrame:
    """Run a stateful machine (`specification` in JSON, sizes in `shape`) in the Java kernel, for each group of rows.

    `shape` has its sizes, `group_columns` the columns that identify a group, `output_type` the type of the result. It
    is a stream if `live`.
    """
    spark = frame.sparkSession
    java = kernel_package(spark)
    names, sizes = _java_array(spark, "java.lang.String", group_columns), _java_array(spark, "int", shape.widths)
    parameters = (
        TickTime(calendar).origin_micros,
        calendar.length,
        shape.window_keys,
        shape.buckets,
        shape.pair_keys,
        sizes,
        live,
    )
    return DataFrame(java.Kernel.run(frame._jdf, specification, names, output_type.json(), *parameters), spark)


def run_slide(
    frame: DataFrame,
    specification: str,
    calendar: Calendar,
    *,
    group_columns: Sequence[str],
    output_type: StructType,
    argument_count: int,
    live: bool,
) -> DataFrame:
    """Aggregate sliding windows, as the JSON `specification` says, in the Java kernel, for each group of rows.

    `group_columns` has the columns that identify a group, `output_type` the type of the result; `argument_count` is the
    number of arguments. It is a stream if `live`.
    """
    spark = frame.sparkSession
    java = kernel_package(spark)
    parameters = (TickTime(calendar).origin_micros, calendar.length, argument_count, live)
    names = _java_array(spark, "java.lang.String", group_columns)
    emitted = DataFrame(java.Kernel.slide(frame._jdf, specification, names, output_type.json(), *parameters), spark)
    return label_machine(emitted, specification) if live else emitted


def decode_entries(spark: SparkSession, specification: str | None, state: Column) -> tuple[Column, Column]:
    """Decode state to two columns, JSON entries and row count; `specification`: of its machine, None for waiting rows.

    Without a specification, `state` holds the rows that wait for the machine.
    """
    java = kernel_package(spark).Kernel
    entries = Column(java.entriesColumn(specification, state._jc))
    return entries, Column(java.heldColumn(specification, state._jc))


def is_closed(spark: SparkSession, tick: Column, offset_log: str, calendar: Calendar) -> Column:
    """Whether the watermark had closed a tick when its micro-batch began, from Spark's log folder `offset_log`.

    `offset_log` is the folder of Spark's offset log.
    """
    java = kernel_package(spark)
    return Column(java.Kernel.isClosed(tick._jc, offset_log, TickTime(calendar).origin_micros, calendar.length))


def kernel_package(spark: SparkSession) -> Any:
    """Return the Py4J handle of the kernel's Java package, and set the thread's class loader so that calls work."""
    jvm: Any = spark._jvm
    loader = spark._jsparkSession.sharedState().jarClassLoader()
    jvm.java.lang.Thread.currentThread().setContextClassLoader(loader)
    return jvm.transom.kernel


def _java_array(spark: SparkSession, kind: str, items: Sequence[Any]) -> Any:
    """Create a Java array of a class, such as `int` or `java.lang.String`, with these items."""
    gateway: Any = spark.sparkContext._gateway
    java = gateway.jvm
    for part in kind.split("."):
        java = getattr(java, part)
    array = gateway.new_array(java, len(items))
    for n, item in enumerate(items):
        array[n] = item
    return array
